package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The part of golden-vectors/bundle on the time of receipt of calls with one request (bound 11 of
 * spec/audit.md): runs in which a request was judged several times, and one of its decisions forged
 * to state another time by who holds every key.
 */
final class ReceivedVectors {
  /** From the first call to the second. */
  private static final Duration AGAIN = Duration.ofSeconds(120);

  private static final Duration SECOND = Duration.ofSeconds(1);

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    ReceivedVectors vectors = new ReceivedVectors();
    vectors.ofTheSecond();
    vectors.ofTheFirst();
    vectors.ofKeys();
    return vectors.made;
  }

  /** The second judgement states that its call came in so much after the request was made. */
  private void ofTheSecond() {
    second("made-again", "nothing is changed", "ok", SECOND, SECOND);
    second("another-call", "another call, 3 s after the first", "ok", SECOND, ofSeconds(4));
    second("another-call-before", "another call, before the first", "ok", SECOND, Duration.ZERO);
    second(
        "skew",
        "2 s before the request was made: a clock may be that wrong",
        "ok",
        SECOND,
        ofSeconds(-2));
    second(
        "not-made-yet",
        "more than 2 s before that",
        "EXE-956",
        SECOND,
        ofSeconds(-2).minusMillis(1));
    second("a-minute-later", "60 s after the first judgement", "ok", SECOND, ofSeconds(61));
    second("much-later", "more than 60 s after it", "EXE-956", SECOND, ofSeconds(61).plusMillis(1));
    second("just-fresh", "as old as a request may be", "ok", ofSeconds(290), ofSeconds(300));
    second("too-old", "older than that", "EXE-956", ofSeconds(290), ofSeconds(300).plusMillis(1));
    soon("at-its-judgement", "at the time of the judgement", "ok", ofSeconds(11));
    soon("after-its-judgement", "a millisecond later", "EXE-956", ofSeconds(11).plusMillis(1));
  }

  private void ofTheFirst() {
    forged(
        "first",
        "the first judgement states another time",
        "EXE-956",
        judged(SECOND, AGAIN),
        0,
        ofSeconds(0));
    forged(
        "from-the-future",
        "a time after the judgement",
        "EXE-956",
        judged(SECOND, AGAIN),
        1,
        ofSeconds(122));
    forged(
        "a-minute-after-the-second",
        "the third judgement states a time 60 s after the second: the first one's counts",
        "EXE-956",
        judged(SECOND, ofSeconds(40), ofSeconds(80)),
        2,
        ofSeconds(101));
  }

  /** The key of who asks held when the first call came in, as its event says. */
  private void ofKeys() {
    window("key-held-then", "the key of who asks held until 45 s", "ok", 45);
    window("key-did-not-hold-then", "the key of who asks held until 30 s", "EXE-956", 30);
    revoked("key-revoked-in-flight", "less than a minute before it", "ok", ofSeconds(40));
    revoked("key-revoked-long-before", "more than a minute before it", "EXE-956", AGAIN);
  }

  /** The second judgement states that its call came in at 42 s. */
  private void window(String name, String about, String wanted, long seconds) {
    String end = Timestamps.format(Plot.START.plusSeconds(seconds));
    Remade remade = stated(judged(SECOND, AGAIN), 1, Plot.START.plusSeconds(42));
    remade.steps.removeIf(step -> step.kind.equals(EventKind.RUN_CLOSED)); // she signed that later
    remade.change(
        TrustVectors.body(remade, EventKind.KEY_ENROLLED, TrustVectors.kid("alice")),
        in("detail", set("writ_not_after", end)));
    add(name, "another call, at 42 s; " + about, wanted, remade);
  }

  /** The key is revoked a second after the first call, and the request is judged again. */
  private void revoked(String name, String about, String wanted, Duration later) {
    Remade remade = FullRun.remade(judged(SECOND, later));
    int at = TrustVectors.place(remade, EventKind.EFFECT_REFUSED, _ -> true) + 1;
    TrustVectors.change(
        remade,
        at,
        EventKind.KEY_REVOKED,
        JsonValue.object().put("kid", TrustVectors.kid("alice")).build());
    add(name, "the key of who asks was revoked " + about + " was judged again", wanted, remade);
  }

  private static Duration ofSeconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  private void second(String name, String about, String wanted, Duration first, Duration stated) {
    forged(name, about, wanted, judged(first, AGAIN), 1, stated);
  }

  /** The second judgement is ten seconds after the first one, at 11 s. */
  private void soon(String name, String about, String wanted, Duration stated) {
    forged(name, about, wanted, judged(SECOND, ofSeconds(10)), 1, stated);
  }

  /**
   * @param decision the first or the second
   */
  private void forged(
      String name, String about, String wanted, byte[] bundle, int decision, Duration stated) {
    add(name, about, wanted, stated(bundle, decision, Plot.START.plus(stated)));
  }

  private void add(String name, String about, String wanted, Remade remade) {
    made.add(Made.bundle("received-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  private static Remade stated(byte[] bundle, int decision, Instant at) {
    Remade remade = FullRun.remade(bundle);
    List<Digest> decisions =
        remade.steps.stream()
            .filter(step -> step.kind.equals(EventKind.DECISION_MADE))
            .map(step -> step.body)
            .toList();
    remade.change(decisions.get(decision), document -> received(document, at));
    return remade;
  }

  private static JsonValue.Obj received(JsonValue.Obj decision, Instant at) {
    TreeMap<String, JsonValue> inputs =
        new TreeMap<>(((JsonValue.Obj) decision.get("inputs")).members());
    inputs.put("received_at", JsonValue.of(Timestamps.format(at)));
    TreeMap<String, JsonValue> members = new TreeMap<>(decision.members());
    members.put("inputs", new JsonValue.Obj(inputs));
    return new JsonValue.Obj(members);
  }

  /**
   * Refused before dispatch each time: it names what nobody stored.
   *
   * @param calls how long after the request was made, or the call before, each came and was judged
   */
  private static byte[] judged(Duration... calls) {
    TestTools tools = BundleVectors.tools();
    try (TestHome home =
        Scenario.setup(FullRun.PARTIES, FullRun.POLICY.toJson(), tools, Plot.START).found()) {
      JsonValue nowhere =
          JsonValue.object()
              .put("digest", Digest.sha256("stored by nobody".getBytes(StandardCharsets.UTF_8)))
              .put("media_type", "text/plain")
              .put("name", "data")
              .put("size", 16L)
              .build();
      Plot.Ask ask =
          Plot.ask("alice", "calc", "n-1").effect("inputs", JsonValue.of(List.of(nowhere)));
      byte[] request = Envelope.sign(Request.TYPE, ask.document(), TestKeys.key("alice")).toBytes();
      for (Duration call : calls) {
        home.clock.forward(call);
        refused(home, request);
      }
      BundleVectors.close(home, "run-1");
      return BundleExport.of(
          home.kernel().ledger(),
          new RunId(Plot.TENANT, "run-1"),
          BundleVectors.packages(tools),
          BundleExport.Options.WHOLE);
    }
  }

  private static void refused(TestHome home, byte[] request) {
    try {
      home.kernel().submit(request, List.of());
    } catch (WritException e) {
      if (e.code() == ExecutorError.INPUT_UNKNOWN) {
        return;
      }
      throw e;
    }
    throw new IllegalStateException("its input is there");
  }
}
