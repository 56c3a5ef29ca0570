// What holds for a client and a server with andon between them. A rule is for the pairs for which when(pair) is true, and
// gets a connection that the rules of its pair share: what it looks at is its own calls. The last ones end it.
import { contents_rules } from './relayed_contents.mjs';
import { cancel_rules, limit_rules, time_rules } from './relayed_cancels.mjs';
import { id_rules } from './relayed_ids.mjs';
import { end_rules } from './relayed_ends.mjs';

export { reference_server_rules } from './relayed_reference_server.mjs';
export { end_rules, time_rules };
export const rules = [...contents_rules, ...cancel_rules, ...id_rules, ...limit_rules];
