package dev.writ.gateway.view;

import dev.writ.guardian.document.Scope;
import java.util.Optional;

/** What somebody may see of the effects in a ledger. */
public interface Sight {
  /** Whoever has the ledger's files sees all that is in them. */
  Sight ALL =
      new Sight() {
        @Override
        public Optional<String> tenant() {
          return Optional.empty();
        }

        @Override
        public boolean rows(Scope scope) {
          return true;
        }

        @Override
        public boolean contents(Scope scope) {
          return true;
        }

        @Override
        public boolean signedRequests(Scope scope) {
          return true;
        }

        @Override
        public boolean approves() {
          return false;
        }
      };

  /** The one tenant of which anything is seen; empty for all. */
  Optional<String> tenant();

  /** Whether the rows of such effects are seen: who, which tool, how it ended, when. */
  boolean rows(Scope scope);

  /** Whether their documents are seen too: parameters, outputs, reasons. */
  boolean contents(Scope scope);

  /**
   * Whether their requests are seen with their signatures also while there is no outcome yet:
   * whoever has such a request can submit it. Asked only where contents are seen.
   */
  boolean signedRequests(Scope scope);

  /** Whether what waits for approval in the tenant is seen as well, with its parameters. */
  boolean approves();
}
