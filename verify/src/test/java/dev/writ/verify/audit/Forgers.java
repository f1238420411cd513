package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Lends the audit's tests to those of bundles: what a kernel may be asked for, and forgers. */
public final class Forgers {
  /** The policy of {@link #schedule}. */
  public static final String POLICY = AHealthyLedgerHasNoProblemsTest.YAML;

  private static final AtomicInteger PLACES = new AtomicInteger();

  private Forgers() {}

  /** Where a forged copy of a home's ledger can be written: a folder of its own below that one. */
  public static LedgerConfig place(TestHome home, Path dir) {
    Path at = dir.resolve("forged" + PLACES.incrementAndGet());
    return new LedgerConfig(
        at,
        at.resolveSibling(at.getFileName() + ".anchor"),
        home.ledger().origin(),
        TestKeys.key("log"),
        home.clock);
  }

  /** What the audit says of a ledger whose tools are those of a home. */
  public static AuditReport audit(TestHome home, LedgerView ledger) {
    return Audit.check(ledger, new Tools(home.tools, home.drivers), (_, _) -> {});
  }

  /** The change of a document that gives one member another value. */
  public static UnaryOperator<JsonValue.Obj> set(String member, JsonValue value) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      all.put(member, value);
      return new JsonValue.Obj(all);
    };
  }

  /** Asks a kernel for that many things, in an order that follows from the seed. */
  public static void schedule(TestHome home, long seed, int steps) {
    AHealthyLedgerHasNoProblemsTest.Schedule schedule =
        new AHealthyLedgerHasNoProblemsTest.Schedule(home, new Random(seed));
    for (int i = 0; i < steps; i++) {
      schedule.step(true);
    }
  }

  /** Writes a ledger anew with one document changed and signed again, and all else made to fit. */
  public static void rewrite(
      LedgerView from, Digest document, UnaryOperator<JsonValue.Obj> change, LedgerConfig to) {
    new Rewrite(from).document(document, change).write(to);
  }

  /** The same with several documents changed. */
  public static void rewrite(
      LedgerView from, Map<Digest, UnaryOperator<JsonValue.Obj>> changes, LedgerConfig to) {
    Rewrite rewrite = new Rewrite(from);
    changes.forEach(rewrite::document);
    rewrite.write(to);
  }

  /** The same, with some documents signed by another key. */
  public static void rewrite(
      LedgerView from,
      Map<Digest, UnaryOperator<JsonValue.Obj>> changes,
      Map<Digest, String> signers,
      LedgerConfig to) {
    Rewrite rewrite = new Rewrite(from);
    changes.forEach(rewrite::document);
    signers.forEach(rewrite::signer);
    rewrite.write(to);
  }

  /** The same, with documents and events changed, which keep their places in their runs. */
  public static void rewriteAll(
      LedgerView from,
      Map<Digest, UnaryOperator<JsonValue.Obj>> changes,
      Map<Event, UnaryOperator<Event>> events,
      LedgerConfig to) {
    Rewrite rewrite = new Rewrite(from);
    changes.forEach(rewrite::document);
    events.forEach(rewrite::event);
    rewrite.write(to);
  }

  /** The same, with one event changed, which keeps its place in its run. */
  public static void rewrite(
      LedgerView from, Event event, UnaryOperator<Event> change, LedgerConfig to) {
    new Rewrite(from).event(event, change).write(to);
  }
}
