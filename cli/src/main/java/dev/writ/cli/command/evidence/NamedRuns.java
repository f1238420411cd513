package dev.writ.cli.command.evidence;

import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.List;

/** Which run a person means, who may have copied its name from where it stands with its tenant. */
final class NamedRuns {
  private NamedRuns() {}

  /**
   * The runs that a name may be of, the likeliest first: one of that tenant, and, as {@code writ
   * runs} writes it, {@code TENANT/RUN}. The name of a run may have a slash of its own.
   */
  static List<RunId> meant(String tenant, String name) {
    RunId own = new RunId(tenant, name);
    int slash = name.indexOf('/');
    return slash < 1 || slash == name.length() - 1
        ? List.of(own)
        : List.of(own, new RunId(name.substring(0, slash), name.substring(slash + 1)));
  }

  /** The likeliest that there is; where there is none, that of the tenant. */
  static RunId named(Session session, String tenant, String name) {
    List<RunId> meant = meant(tenant, name);
    for (RunId run : meant.size() == 1 ? List.<RunId>of() : meant) {
      try (LedgerView ledger = OpenHome.read(Homes.homeOf(session, run))) {
        if (ledger.head(run).isPresent()) {
          return run;
        }
      }
    }
    return meant.getFirst();
  }
}
