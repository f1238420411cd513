/** Time stamps of RFC 3161 over checkpoints (spec/witness.md, "Time stamps"). */
package dev.writ.verify.stamp;
