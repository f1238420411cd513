package dev.writ.gateway.view;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
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

  /** The same from another place on: the next page. */
  public EffectQuery before(long index) {
    return new EffectQuery(
        limit, Optional.of(index), after, run, subject, tool, verdict, state, code, from, to, text);
  }

  /** Whether a request can be among them, whatever became of it. */
  boolean mayMatch(Request request) {
    return is(run, request.scope().run())
        && is(subject, request.scope().subject())
        && is(tool, request.effect().tool());
  }

  /**
   * Whether an effect is among them, wherever it is in the log.
   *
   * @param contents whether the text is looked for in contents too
   */
  public boolean matches(EffectView row, Request request, boolean contents) {
    return mayMatch(request)
        && verdict.filter(v -> v != row.verdict()).isEmpty()
        && state.filter(s -> s != row.state()).isEmpty()
        && code.filter(c -> row.code().filter(c::equals).isEmpty()).isEmpty()
        && from.filter(row.receivedAt()::isBefore).isEmpty()
        && to.filter(end -> !row.receivedAt().isBefore(end)).isEmpty()
        && text.filter(wanted -> !holds(row, request, contents, wanted)).isEmpty();
  }

  private static boolean is(Optional<String> wanted, String name) {
    return wanted.isEmpty() || wanted.get().equals(name);
  }

  private static boolean holds(EffectView row, Request request, boolean contents, String wanted) {
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
                || params(request).contains(lower));
  }

  private static String params(Request request) {
    return new String(Jcs.write(request.effect().params()), StandardCharsets.UTF_8)
        .toLowerCase(Locale.ROOT);
  }
}
