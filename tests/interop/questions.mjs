// What a client is asked by its server, and how it answers: each test says what it wants.
export class Questions {
    #standing = {
        sample: async () => ({ role: 'assistant', content: { type: 'text', text: 'vermilion' }, model: 'test' }),
        elicit: async () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.org' } }),
        roots: async () => ({ roots: [{ uri: 'file:///srv/files' }] })
    };
    #now = { ...this.#standing };

    // For create_client.
    answers() {
        return {
            sample: (_, signal) => this.#now.sample(signal),
            elicit: (_, signal) => this.#now.elicit(signal),
            roots: signal => this.#now.roots(signal)
        };
    }

    // The next question of that kind is thought about until it is taken back, or answered by answer().
    leave_open(kind) {
        let asked, taken_back, answer;
        const question = {
            asked: new Promise(resolve => (asked = resolve)),
            taken_back: new Promise(resolve => (taken_back = resolve)),
            answer: () => answer()
        };
        this.#now[kind] = signal => {
            this.#now[kind] = this.#standing[kind];
            return new Promise((resolve, reject) => {
                answer = () => resolve(this.#standing[kind]());
                signal.addEventListener('abort', () => {
                    taken_back();
                    reject(signal.reason);
                });
                asked();
            });
        };
        return question;
    }
}
