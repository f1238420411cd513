package dev.writ.executor.retention;

import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.guardian.policy.retention.SealedContents;
import dev.writ.ledger.seal.ContentOwner;
import java.util.Optional;

/** Under whose key policy has contents kept (spec/retention.md, Sealed contents). */
public final class Sealing {
  private Sealing() {}

  /** Of a content that an effect makes; empty: in the clear. */
  public static Optional<ContentOwner> owner(Policy policy, ContentClass content, Scope scope) {
    return policy
        .retention()
        .sealed()
        .filter(sealed -> sealed.contents().contains(content))
        .map(sealed -> owner(sealed.by(), scope));
  }

  /**
   * Of an upload, which belongs to no run: its key is the subject's, whatever policy has keys for.
   *
   * @param subject who uploads it; empty for the whole tenant, whose uploads stay in the clear
   */
  public static Optional<ContentOwner> ownerOfUpload(Policy policy, String tenant, String subject) {
    return policy
        .retention()
        .sealed()
        .filter(sealed -> sealed.contents().contains(ContentClass.INPUTS) && !subject.isEmpty())
        .map(_ -> ContentOwner.subject(tenant, subject));
  }

  /** Whose key another use of a sealed content gets, when the one that it lies under goes. */
  static ContentOwner ownerOfUse(Policy policy, Scope scope) {
    return owner(
        policy.retention().sealed().map(SealedContents::by).orElse(SealedContents.By.SUBJECT),
        scope);
  }

  private static ContentOwner owner(SealedContents.By by, Scope scope) {
    return switch (by) {
      case SUBJECT -> ContentOwner.subject(scope.tenant(), scope.subject());
      case RUN -> ContentOwner.run(scope.tenant(), scope.run());
    };
  }
}
