package dev.writ.gateway.v1;

import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a caller may see of effects, by the policy in force at each question. Answers are kept while
 * the policy stays, since many effects are of one run. For one thread.
 */
final class CallerSight implements Sight {
  /** Scopes whose answers are kept. */
  private static final int KEPT_MAX = 4096;

  private final Reader reader;
  private final Caller caller;
  private final Map<Scope, Seen> kept = new HashMap<>();
  private Optional<Policy> under = Optional.empty();

  private record Seen(boolean rows, boolean contents) {}

  CallerSight(Reader reader, Caller caller) {
    this.reader = reader;
    this.caller = caller;
  }

  @Override
  public Optional<String> tenant() {
    return Optional.of(caller.tenant());
  }

  @Override
  public boolean rows(Scope scope) {
    return seen(scope).rows();
  }

  @Override
  public boolean contents(Scope scope) {
    return seen(scope).contents();
  }

  @Override
  public boolean signedRequests(Scope scope) {
    return reader.maySee(caller, scope);
  }

  @Override
  public boolean approves() {
    return reader.approves(caller);
  }

  private Seen seen(Scope scope) {
    Policy inForce = reader.kernel().system().policyInForce();
    if (under.filter(policy -> policy == inForce).isEmpty() || kept.size() >= KEPT_MAX) {
      kept.clear();
      under = Optional.of(inForce);
    }
    return kept.computeIfAbsent(
        scope,
        s ->
            new Seen(
                s.tenant().equals(caller.tenant()) && reader.seesRows(caller, s),
                s.tenant().equals(caller.tenant()) && reader.seesContents(caller, s)));
  }
}
