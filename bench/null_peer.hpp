// The measure of the driver itself.
#pragma once

namespace andon::bench {

/// A server on stdin and stdout that answers every request the same, with hardly a look at it. The rate that it reaches
/// is the driver's own limit, and no server's rate means anything close to it. Returns when its input ends.
int run_null_peer();

}  // namespace andon::bench
