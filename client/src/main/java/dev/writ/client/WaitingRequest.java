package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Effect;

/**
 * A request that waits for an approval, as an approver sees it. Nothing of it is signed: an
 * approval is of this effect under this policy, and of nothing else.
 *
 * @param policy the digest of the policy in force
 */
public record WaitingRequest(
    Digest request, String run, String subject, Effect effect, Digest policy) {}
