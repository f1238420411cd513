package dev.writ.embed;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.embed.home.ApproverRole;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import java.security.SecureRandom;

/** An approver, who approves or rejects requests that wait. Thread safe. */
public final class Approvals {
  private final OpenHome home;
  private final SigningKey key;
  private final SecureRandom random;

  Approvals(OpenHome home, SigningKey key, SecureRandom random) {
    this.home = home;
    this.key = key;
    this.random = random;
  }

  /**
   * Approves a request, for an hour, under the policy in force. Its agent executes it by {@link
   * AgentRun#resubmit}.
   *
   * @return the request's decision now
   * @throws WritException {@code EXE-908} where it does not wait, {@code GRD-6xx} where this
   *     approver may not, {@code CLI-020} where policy gives it several roles, or none
   */
  public Decision approve(Outcome waiting) {
    return say(waiting, Approval.Verdict.APPROVE);
  }

  /**
   * Rejects a request: a final denial.
   *
   * @throws WritException as {@link #approve}
   */
  public Decision reject(Outcome waiting) {
    return say(waiting, Approval.Verdict.REJECT);
  }

  private Decision say(Outcome waiting, Approval.Verdict verdict) {
    Digest effect = waiting.decision().effect();
    return home.kernel()
        .approve(
            new Asking(home.kernel(), random)
                .approval(
                    key, ApproverRole.of(home.kernel(), key), waiting.requestId(), effect, verdict))
        .decision();
  }
}
