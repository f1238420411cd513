package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestKernel;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.Circumstances;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;

/** A whole installation in a directory: keys, ledger, a policy with one rule, one tool. */
final class Lab implements AutoCloseable {
  static final String TENANT = "acme";
  static final String AGENT = "agent";
  private static final InstantSource CLOCK = InstantSource.system();

  private static final int EFFECTS_TO_WEIGH = 64;

  /** Everybody who signs here. */
  private static final List<TestParty> SIGNERS =
      List.of(
          new TestParty("operator", KeyRole.OPERATOR, Optional.empty()),
          new TestParty("owner", KeyRole.POLICY_OWNER, Optional.empty()),
          new TestParty("guardian", KeyRole.GUARDIAN, Optional.empty()),
          new TestParty("executor", KeyRole.EXECUTOR, Optional.empty()),
          new TestParty("log", KeyRole.LOG, Optional.empty()),
          new TestParty(AGENT, KeyRole.AGENT, Optional.of(TENANT)));

  private static final String POLICY =
      """
      writ_policy: 1
      name: bench
      version: 1
      limits: { request_age_max_s: 3600, pending_max_s: 3600, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: agent, roles: [worker] }
      roles:
        worker:
          tools: [TOOL]
          sandboxes: [SANDBOX]
          resources: RESOURCES
      tools:
        - { name: TOOL, version: "VERSION", package: "PACKAGE", stage: active }
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000000000, window_s: 86400 }
        - { name: cpu, scope: subject, unit: cpu_ms, limit: 1000000000000, window_s: 86400 }
      engine: { slots: 64, quotas: { default: { running: 64, weight: 1 } } }
      requirements:
        - effect: { tool: TOOL }
          require: { cel: "tenant == 'acme'" }
      """;

  private final SecureRandom random = new SecureRandom();
  private final AtomicLong nonces = new AtomicLong();
  private final LabTool tool;
  private final Path home;
  private final Ledger ledger;
  private final Kernel kernel;

  Lab(Path home) {
    this(home, false);
  }

  Lab(Path home, LabTool tool) {
    this(home, tool, "");
  }

  /**
   * @param more sections of the policy
   */
  Lab(Path home, LabTool tool, String more) {
    this(home, false, Ledger::create, tool, more);
  }

  /**
   * @param existing opens what another one made there, instead of making it
   */
  Lab(Path home, boolean existing) {
    this(home, existing, existing ? Ledger::open : Ledger::create);
  }

  /**
   * @param making opens the ledger, so that a test can look at what is written
   */
  Lab(Path home, boolean existing, Function<LedgerConfig, Ledger> making) {
    this(home, existing, making, LabTool.noop(), "");
  }

  private Lab(
      Path home,
      boolean existing,
      Function<LedgerConfig, Ledger> making,
      LabTool tool,
      String more) {
    this.home = home;
    this.tool = tool;
    ledger = making.apply(config(home));
    TestKernel parts =
        new TestKernel(
            registry(tool),
            List.of(tool.driver()),
            RunWorkspaces.NONE,
            Optional.empty(),
            KernelConfig.SUMMARIZED_EVERY,
            CLOCK,
            System::nanoTime,
            random);
    if (!existing) {
      parts.found(ledger, SIGNERS.stream().map(Lab::trusted).toList(), policy(more).toJson());
    }
    kernel = parts.open(ledger);
  }

  /** The ledger of a lab in that directory. */
  static LedgerConfig config(Path home) {
    return new LedgerConfig(
        home.resolve("ledger"), home.resolve("anchor"), "bench", TestKeys.key("log"), CLOCK);
  }

  /** From now on and without an end: this clock is the host's. */
  static TrustedKey trusted(TestParty party) {
    return new TrustedKey(
        party.key().verifyingKey(),
        party.role(),
        party.tenant(),
        party.name(),
        CLOCK.instant(),
        Optional.empty(),
        Optional.empty());
  }

  private Policy policy(String more) {
    Resources most = tool.ceiling();
    String resources =
        String.format(
            Locale.ROOT,
            "{ cpu_ms: %d, memory_bytes: %d, output_bytes: %d, wall_ms: %d }",
            most.cpuMs(),
            most.memoryBytes(),
            most.outputBytes(),
            most.wallMs());
    String text =
        (POLICY + more)
            .replace("TOOL", tool.manifest().name())
            .replace("VERSION", tool.manifest().version())
            .replace("SANDBOX", tool.sandbox())
            .replace("RESOURCES", resources)
            .replace("PACKAGE", tool.manifest().packageDigest().toString());
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), "bench.yaml");
  }

  /** Signed requests for effects that are all allowed and all different. */
  List<byte[]> requests(String run, int count) {
    List<byte[]> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(request(run).toBytes());
    }
    return requests;
  }

  Envelope request(String run) {
    long number = nonces.incrementAndGet();
    Request request =
        new Request(
            new Scope(TENANT, run, AGENT),
            new Effect(
                tool.manifest().name(),
                tool.manifest().version(),
                tool.operation(),
                tool.params().apply(number),
                List.of(),
                tool.ceiling(),
                tool.sandbox(),
                Optional.empty()),
            List.of(),
            Optional.empty(),
            "nonce-" + run + "-" + number,
            CLOCK.instant(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), TestKeys.key(AGENT));
  }

  /** Executes an effect and fails unless it was executed. */
  Answer submit(byte[] request) {
    Answer answer = kernel.submit(request, List.of());
    boolean done =
        answer
            .served()
            .filter(s -> s.receipt().status() == Status.SUCCEEDED && !s.repeated())
            .isPresent();
    if (!done) {
      throw new IllegalStateException("not done: " + answer.decision().code());
    }
    return answer;
  }

  /** The curve operations of one effect: what it verifies and signs, on its own documents. */
  Curve curve() {
    Envelope request = request("curve");
    Answer answer = submit(request.toBytes());
    return new Curve(
        TestKeys.key(AGENT),
        TestKeys.key("guardian"),
        TestKeys.key("executor"),
        request,
        answer.decisionEnvelope(),
        answer.intent().orElseThrow(),
        answer.served().orElseThrow().envelope());
  }

  /** The bundle of a run with so many effects, all of its keys pinned. */
  Bundle bundle(int effects) {
    String run = "verified";
    List<byte[]> requests = requests(run, effects);
    int each = Math.ceilDiv(effects, LedgerSteps.CALLERS);
    Stopwatch.concurrently(
        LedgerSteps.CALLERS,
        each,
        n ->
            requests
                .subList(Math.min(effects, n * each), Math.min(effects, (n + 1) * each))
                .forEach(this::submit));
    kernel.checkpoint();
    Path file = home.resolve("verified.writ");
    export(ledger, run, file);
    return Bundle.open(file);
  }

  /** Ends a run; its checkpoint covers all of it. */
  void close(String run) {
    RunClose close = new RunClose(TENANT, run, CLOCK.instant());
    kernel.closeRun(Envelope.sign(RunClose.TYPE, close.toJson(), TestKeys.key(AGENT)));
  }

  /** Writes the bundle of a run into a new file. */
  static void export(LedgerView ledger, String run, Path file) {
    try (FileChannel out =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      BundleExport.write(
          ledger, new RunId(TENANT, run), packages(), BundleExport.Options.WHOLE, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The tools and drivers by which an audit judges again. */
  static Tools tools() {
    LabTool noop = LabTool.noop();
    return new Tools(registry(noop), List.of(noop.driver()));
  }

  private static TestTools registry(LabTool tool) {
    TestTools registry = new TestTools();
    registry.register(tool.manifest());
    return registry;
  }

  static BundleExport.Packages packages() {
    return BundleExport.Packages.of(registry(LabTool.noop()));
  }

  List<SigningKey> signers() {
    return SIGNERS.stream().map(TestParty::key).toList();
  }

  /** What a judgement of a request for the no-op tool is made under. */
  Circumstances circumstances() {
    return new Circumstances(
        tool.manifest(),
        tool.manifest().packageDigest(),
        List.of(),
        List.of(),
        (_, _) -> false,
        Optional.empty());
  }

  Ledger ledger() {
    return ledger;
  }

  Kernel kernel() {
    return kernel;
  }

  /** Where RocksDB writes, for floors on the same disk. */
  Path directory() {
    return home;
  }

  /** What an effect takes in the log: exact for a process's first megabyte. */
  int bytesOfAnEffect() {
    List<byte[]> requests = requests("weighed", EFFECTS_TO_WEIGH);
    long before = logBytes();
    requests.forEach(this::submit);
    return (int) ((logBytes() - before) / EFFECTS_TO_WEIGH);
  }

  /** Bytes in the write-ahead log: exact for a process's first megabyte. */
  long logBytes() {
    try (Stream<Path> files = Files.list(home.resolve("ledger/db"))) {
      long sum = 0;
      for (Path file : files.filter(f -> f.toString().endsWith(".log")).toList()) {
        sum += Files.size(file);
      }
      return sum;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A random digest, for names and content that must differ. */
  Digest unique() {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    return Digest.sha256(bytes);
  }

  @Override
  public void close() {
    ledger.close();
  }
}
