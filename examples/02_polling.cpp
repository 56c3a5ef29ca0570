// A tool that computes: it looks at call.cancelled(), which is cheap enough for the inside of a loop.
#include <andon/server/server.hpp>
#include <boost/describe/class.hpp>

struct prime_arguments {
    long from = 1'000'000'000'000;
};
BOOST_DESCRIBE_STRUCT(prime_arguments, (), (from))

std::string next_prime(const prime_arguments& given, andon::call& call) {
    for (long candidate = given.from;; ++candidate) {
        bool prime = candidate > 1;
        for (long factor = 2; prime && factor * factor <= candidate; ++factor) {
            prime = candidate % factor != 0;
            call.throw_if_cancelled();  // one load; throws out of here when nobody wants the answer any more
        }
        if (prime) return std::to_string(candidate);
    }
}

int main() {
    andon::server server({.name = "primes"});
    server.tool("next_prime", "The next prime number", next_prime);
    server.serve_stdio();
}
