package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.ClockCheck;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Event;
import dev.writ.ledger.Fsck;
import dev.writ.ledger.FsckReport;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerSeam;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A whole installation on a temporary directory: keys, policy, tools, a driver, a clock that a test
 * moves, and a kernel that can be stopped and started again.
 */
public final class TestHome implements AutoCloseable {
  public static final Instant START = Instant.parse("2026-11-21T12:00:00.000Z");
  public static final String ORIGIN = "writ.example/log";

  public final TestClock clock;
  public final TestTools tools;
  public final TestDriver driver = new TestDriver();
  public final List<Driver> drivers = new ArrayList<>(List.of(driver));

  /** Outlive a kernel. */
  public final TestWorkspaces workspaces = new TestWorkspaces();

  private boolean withoutWorkspaces;

  private final Path dir;
  private final SeededRandom random;
  private LedgerSeam.BeforeWrite beforeWrite = () -> {};
  private UnaryOperator<SafeExecutor> seam = UnaryOperator.identity();
  private String origin = ORIGIN;
  private Ledger ledger;
  private Kernel kernel;
  private final String noncePrefix;
  private long nonces;

  private TestHome(Path dir, TestTools tools, long seed) {
    this.dir = dir;
    this.tools = tools;
    this.clock = new TestClock(START);
    this.random = new SeededRandom(seed);
    this.noncePrefix = "nonce-" + seed + "-";
  }

  /** A new installation with the standard tools and {@link TestPolicy#YAML}. */
  public static TestHome create(Path dir) {
    return create(dir, TestPolicy.YAML);
  }

  public static TestHome create(Path dir, String policy) {
    TestHome home = new TestHome(dir, TestTools.standard(), 1);
    home.make(policy);
    return home;
  }

  /** A new installation with {@link TestTools#withWorkspaces} and {@link TestPolicy#WORKSPACES}. */
  public static TestHome withWorkspaces(Path dir) {
    TestHome home = new TestHome(dir, TestTools.withWorkspaces(), 1);
    home.make(TestPolicy.WORKSPACES);
    return home;
  }

  /** A new installation of another log. */
  public static TestHome create(Path dir, String policy, String origin, long seed) {
    TestHome home = new TestHome(dir, TestTools.standard(), seed);
    home.origin = origin;
    home.make(policy);
    return home;
  }

  /** Starts what another process left behind. */
  public static TestHome open(Path dir) {
    TestHome home = new TestHome(dir, TestTools.standard(), 2);
    home.start();
    return home;
  }

  private void make(String policy) {
    Templates.copy(policy + '\n' + origin, dir, template -> found(template, policy));
    start();
  }

  private void found(Path template, String policy) {
    try (Ledger empty = Ledger.create(ledgerConfig(template))) {
      Kernel.found(
          empty,
          TestKeys.PARTIES.stream().map(party -> enrolment(party.trusted())).toList(),
          signed(TestPolicy.first(policy, tools)),
          clock,
          new SeededRandom(0));
    }
  }

  public LedgerConfig ledgerConfig() {
    return ledgerConfig(dir);
  }

  private LedgerConfig ledgerConfig(Path at) {
    // The anchor's own clock: a thread of the ledger reads it, whenever it comes to.
    return new LedgerConfig(
        at.resolve("data"),
        at.resolve("anchor.json"),
        origin,
        TestKeys.key("log"),
        InstantSource.fixed(START));
  }

  private void start() {
    ledger = LedgerSeam.open(ledgerConfig(), () -> beforeWrite.write());
    try {
      kernel =
          KernelSeam.open(
              new KernelConfig(
                  ledger,
                  TestKeys.key("guardian"),
                  TestKeys.key("executor"),
                  tools,
                  List.copyOf(drivers),
                  withoutWorkspaces ? RunWorkspaces.NONE : workspaces,
                  clock,
                  clock::elapsed,
                  random),
              seam);
    } catch (RuntimeException e) {
      ledger.close();
      throw e;
    }
  }

  /** Stops and starts: what is not in the ledger is gone. */
  public void restart() {
    stop();
    start();
  }

  /** The operator signs that time goes on from the clock's; starts again. */
  public ClockCorrection correctClock() {
    stop();
    ClockCorrection made = ClockCheck.correct(atClock(), this::correction);
    start();
    return made;
  }

  /** The ledger for commands that work on it while it is stopped. */
  public LedgerConfig atClock() {
    LedgerConfig config = ledgerConfig();
    return new LedgerConfig(
        config.dir(),
        config.anchor(),
        config.origin(),
        config.logKey(),
        InstantSource.fixed(clock.instant()));
  }

  public Envelope correction(ClockCorrection correction) {
    return Envelope.sign(
        SystemChange.TYPE,
        new SystemChange(EventKind.CLOCK_CORRECTED, correction.toJson(), correction.to()).toJson(),
        TestKeys.key("operator"));
  }

  /** Stops and starts with a part of the executor exchanged; identity puts the real one back. */
  public void restartWith(UnaryOperator<SafeExecutor> exchange) {
    seam = exchange;
    restart();
  }

  /** Stops and starts as an installation that has no workspaces, or has them again. */
  public void restartWithWorkspaces(boolean there) {
    withoutWorkspaces = !there;
    restart();
  }

  /** From now on called before each write to the disk. */
  public void beforeWrite(LedgerSeam.BeforeWrite check) {
    beforeWrite = check;
  }

  /** Stops; {@link #restart} starts it again. */
  public void stop() {
    ledger.close();
  }

  @Override
  public void close() {
    stop();
  }

  public Kernel kernel() {
    return kernel;
  }

  public LedgerView ledger() {
    return ledger;
  }

  public Path dir() {
    return dir;
  }

  // What parties say.

  /** A request of an agent, with a new nonce, that policy allows. */
  public TestRequest ask(String agent) {
    String tenant = agent.equals("eve") ? TestKeys.OTHER_TENANT : TestKeys.TENANT;
    return new TestRequest(tenant, agent, noncePrefix + ++nonces, clock.instant());
  }

  public Answer submit(TestRequest request) {
    return kernel.submit(request.bytes(), List.of());
  }

  public Answer submit(Envelope request) {
    return kernel.submit(request.toBytes(), List.of());
  }

  public Answer decide(Envelope request) {
    return kernel.decide(request.toBytes(), List.of());
  }

  /** The second of two steps, ordered by that agent. */
  public Served execute(Answer decided, String agent) {
    return kernel.execute(
        decided.decisionEnvelope(),
        decided.intent().orElseThrow(),
        order(decided.intent().orElseThrow().id(), agent));
  }

  public Envelope order(Digest intent, String agent) {
    String tenant = agent.equals("eve") ? TestKeys.OTHER_TENANT : TestKeys.TENANT;
    return Envelope.sign(
        ExecutionOrder.TYPE,
        new ExecutionOrder(tenant, intent, clock.instant()).toJson(),
        TestKeys.key(agent));
  }

  public Envelope approval(Envelope request, String approver, Approval.Verdict verdict) {
    Request read = Request.read(request.document());
    return Envelope.sign(
        Approval.TYPE,
        new Approval(
                read.scope().tenant(),
                approver,
                "reviewer",
                request.id(),
                read.effect().digest(),
                policy().digest(),
                verdict,
                clock.instant(),
                clock.instant().plusSeconds(3600))
            .toJson(),
        TestKeys.key(approver));
  }

  public Answer approve(Envelope request, String approver) {
    return kernel.approve(approval(request, approver, Approval.Verdict.APPROVE));
  }

  public Answer reject(Envelope request, String approver) {
    return kernel.approve(approval(request, approver, Approval.Verdict.REJECT));
  }

  public Envelope resolution(Served doubtful, Resolution.Found found) {
    return Envelope.sign(
        Resolution.TYPE,
        new Resolution(
                doubtful.receipt().scope().tenant(),
                doubtful.id(),
                found,
                "looked at the outbox",
                List.of(),
                clock.instant())
            .toJson(),
        TestKeys.key("operator"));
  }

  public Envelope close(String tenant, String run, String agent) {
    return Envelope.sign(
        RunClose.TYPE, new RunClose(tenant, run, clock.instant()).toJson(), TestKeys.key(agent));
  }

  // What the installation's owners say.

  public Policy policy() {
    return kernel.system().policyInForce();
  }

  public Envelope signed(Policy policy) {
    return Envelope.sign(SystemState.POLICY_TYPE, policy.toJson(), TestKeys.key("owner"));
  }

  /** Puts another policy in force. */
  public void activate(String yaml) {
    kernel.activate(signed(TestPolicy.after(policy(), yaml, tools)));
  }

  public Envelope change(String kind, JsonValue.Obj detail) {
    return Envelope.sign(
        SystemChange.TYPE,
        new SystemChange(kind, detail, clock.instant()).toJson(),
        TestKeys.key("operator"));
  }

  public Envelope enrolment(TrustedKey key) {
    return change(EventKind.KEY_ENROLLED, key.toJson());
  }

  public void enrol(TrustedKey key) {
    kernel.change(enrolment(key));
  }

  public void revoke(String name) {
    kernel.change(
        change(
            EventKind.KEY_REVOKED,
            JsonValue.object().put("kid", TestKeys.key(name).kid()).build()));
  }

  public void prohibit(String tool, String version) {
    kernel.change(
        change(
            EventKind.TOOL_REVOKED,
            JsonValue.object().put("tool", tool).put("version", version).build()));
  }

  // What the ledger holds.

  public List<Event> events(String tenant, String run) {
    List<Event> events = new ArrayList<>();
    ledger.events(new RunId(tenant, run), 0, events::add);
    return events;
  }

  public List<String> kinds(String tenant, String run) {
    return events(tenant, run).stream().map(Event::kind).toList();
  }

  /** All events of all runs, in the order of the log. */
  public List<Event> log() {
    List<Event> events = new ArrayList<>();
    ledger.eventsByIndex(0, ledger.treeSize(), (_, event) -> events.add(event));
    return events;
  }

  public RunState runState(String tenant, String run) {
    return RunState.parse(ledger.get(Tables.RUN, Tables.key(tenant, run)).orElseThrow());
  }

  /** Keys of the rows of one of the executor's tables. */
  public List<String> rows(String table) {
    List<String> keys = new ArrayList<>();
    ledger.scan(
        table,
        "",
        (key, _) -> {
          keys.add(key);
          return true;
        });
    return keys;
  }

  public Envelope document(Digest id) {
    return ledger.document(id).orElseThrow();
  }

  public Optional<Event> last(String tenant, String run) {
    return ledger.head(new RunId(tenant, run));
  }

  public FsckReport fsck() {
    return Fsck.check(
        Fsck.Options.of(ledgerConfig().dir())
            .withLogKey(TestKeys.key("log").verifyingKey())
            .withAnchor(ledgerConfig().anchor()));
  }
}
