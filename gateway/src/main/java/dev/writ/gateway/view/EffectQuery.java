package dev.writ.gateway.view;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Which effects are asked for. What is absent does not narrow it.
 *
 * @param limit the most rows of one page
 * @param before only effects that were received before that place in the log
 * @param after only those that were received behind that place
 * @param tool its name
 * @param from when it was received, at the earliest
 * @param to when it was received, before that
 * @param text somewhere in names, ids and codes, and in the parameters and the reason where the
 *     reader may see these; upper and lower case are the same
 */
public record EffectQuery(
    int limit,
    Optional<Long> before,
    Optional<Long> after,
    Optional<String> run,
    Optional<String> subject,
    Optional<String> tool,
    Optional<Verdict> verdict,
    Optional<EffectView.State> state,
    Optional<String> code,
    Optional<Instant> from,
    Optional<Instant> to,
    Optional<String> text) {

  public static final int LIMIT_MAX = 200;

  /** The newest of all. */
  public static EffectQuery newest(int limit) {
    return new EffectQuery(
        limit,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** The same of one tool alone. */
  public EffectQuery ofTool(String name) {
    return new EffectQuery(
        limit,
        before,
        after,
        run,
        subject,
        Optional.of(name),
        verdict,
        state,
        code,
        from,
        to,
        text);
  }

  /** The same from another place on: the next page. */
  public EffectQuery before(long index) {
    return new EffectQuery(
        limit, Optional.of(index), after, run, subject, tool, verdict, state, code, from, to, text);
  }

  /** Whether a request can be among them, whatever became of it. */
  boolean mayMatch(Request request) {
    return mayMatch(request.scope(), request.effect().tool());
  }

  private boolean mayMatch(Scope scope, String toolName) {
    return is(run, scope.run()) && is(subject, scope.subject()) && is(tool, toolName);
  }

  /**
   * Whether an effect is among them now, wherever it is in the log.
   *
   * @param params looked at where the text may be in them and the reader may see contents
   */
  public boolean matches(EffectView row, boolean contents, Supplier<JsonValue.Obj> params) {
    return mayMatch(row.scope(), row.tool())
        && verdict.filter(v -> v != row.verdict()).isEmpty()
        && state.filter(s -> s != row.state()).isEmpty()
        && code.filter(c -> row.code().filter(c::equals).isEmpty()).isEmpty()
        && from.filter(row.receivedAt()::isBefore).isEmpty()
        && to.filter(end -> !row.receivedAt().isBefore(end)).isEmpty()
        && text.filter(wanted -> !holds(row, contents, params, wanted)).isEmpty();
  }

  /**
   * Whether an effect may have been among them before it became what it is: it is not now, and only
   * because of what changes in the life of an effect.
   */
  public boolean mayHaveMatched(EffectView row) {
    return mayMatch(row.scope(), row.tool())
        && (verdict.isPresent() || state.isPresent() || code.isPresent());
  }

  private static boolean is(Optional<String> wanted, String name) {
    return wanted.isEmpty() || wanted.get().equals(name);
  }

  private static boolean holds(
      EffectView row, boolean contents, Supplier<JsonValue.Obj> params, String wanted) {
    String lower = wanted.toLowerCase(Locale.ROOT);
    return Stream.of(
                Stream.of(
                    row.scope().run(),
                    row.scope().subject(),
                    row.tool(),
                    row.version(),
                    row.operation(),
                    row.request().toString(),
                    row.decision().toString()),
                row.onBehalfOf().stream(),
                row.surface().stream(),
                row.code().stream(),
                row.receipt().stream().map(Object::toString))
            .flatMap(all -> all)
            .anyMatch(name -> name.toLowerCase(Locale.ROOT).contains(lower))
        || contents
            && (row.reason().filter(r -> r.toLowerCase(Locale.ROOT).contains(lower)).isPresent()
                || new String(Jcs.write(params.get()), StandardCharsets.UTF_8)
                    .toLowerCase(Locale.ROOT)
                    .contains(lower));
  }
}
