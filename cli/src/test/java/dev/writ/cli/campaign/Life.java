package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.Run;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * The life of one installation: rounds of work, each ended by a fault, and then everything that it
 * says is held against what its clients got and against what happened outside. A seed names a life.
 */
final class Life implements AutoCloseable {
  /** What each round asks for again; the last one asks for everything. */
  private static final int ASKED_AGAIN = 25;

  private static final String LIBFAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
  private static final String WORKSPACE_IN_DOUBT = "\"EXE-311\"";
  private static final List<String> CALLS = List.of("sync", "write", "rename", "open");

  private final long seed;
  private final Random random;
  private final Path work;
  private final Path sandboxes;
  private final Tally tally;
  private final Optional<Disk> disk;
  private final Outside outside;
  private final Faults faults;
  private final Installation installation;
  private final Memory memory = new Memory();
  private final List<String> story = new ArrayList<>();
  private final Deque<Round> planned;

  /** How a round ends, and what most of its work is. */
  record Round(Strike strike, Work focus) {}

  /**
   * @param planned its first rounds; what follows them is random
   */
  Life(long seed, Path work, Tally tally, List<Round> planned)
      throws IOException, InterruptedException {
    this.seed = seed;
    this.random = new Random(seed);
    this.work = work;
    this.tally = tally;
    this.planned = new ArrayDeque<>(planned);
    boolean needsDisk = planned.stream().anyMatch(round -> round.strike().needsDisk());
    this.disk = random.nextBoolean() || needsDisk ? Optional.of(Disk.make(work)) : Optional.empty();
    this.outside = Outside.open();
    this.sandboxes = Files.createTempDirectory(Path.of("/tmp"), "writ");
    // Not by the call before: a command has set this process's umask since the first life.
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    try {
      Path place = disk.isPresent() ? disk.get().root() : work.resolve("place");
      Files.createDirectories(place);
      this.faults = Faults.compile(work, place);
      this.installation =
          Installation.make(
              place.resolve("home"),
              work,
              outside.place(),
              Map.of(
                  "WRIT_SANDBOX_DIR",
                  sandboxes.resolve("s").toString(),
                  "WRIT_EGRESS_PRIVATE",
                  outside.place()));
    } catch (IOException | InterruptedException | RuntimeException e) {
      close();
      throw e;
    }
  }

  long seed() {
    return seed;
  }

  /** What does not hold, each with the rounds before it. */
  List<String> findings() {
    return memory.findings().stream()
        .map(f -> f + "\n  life " + seed + ": " + String.join("; ", story))
        .toList();
  }

  /** One round: work, a fault in the middle, and the end of the process. */
  void round() throws IOException, InterruptedException {
    Round round = planned.isEmpty() ? next() : planned.remove();
    Strike strike = round.strike();
    Work focus = round.focus();
    Optional<Faults.Plan> plan = plan(strike);
    story.add(strike + " " + plan.map(Object::toString).orElse("") + " during " + focus);
    tally.round(strike, focus);
    if (strike == Strike.COMMAND_KILLED) {
      command(plan.orElseThrow());
      return;
    }
    int descriptors = strike == Strike.FEW_DESCRIPTORS ? 512 + random.nextInt(200) : 0;
    Server server = Server.start(installation.home(), work, environment(strike, plan), descriptors);
    try {
      if (strike == Strike.KILL_WHILE_STARTING) {
        server.endsWithin(Duration.ofMillis(random.nextInt(4000)));
        server.kill();
        return;
      }
      Optional<URI> address = server.awaitListening();
      if (address.isPresent()) {
        askAgainUnlessStruck(address.get());
        workAndStrike(server, address.get(), strike, focus, plan);
      } else if (plan.isEmpty() && strike != Strike.LITTLE_MEMORY) {
        memory.find("it does not start: " + server.said());
      }
    } finally {
      server.kill();
      if (disk.isPresent()) {
        disk.get().makeRoom();
      }
      plan.ifPresent(p -> tally.struck(faults));
    }
  }

  private Round next() {
    List<Strike> all = new ArrayList<>(List.of(Strike.values()));
    if (disk.isEmpty()) {
      all.removeIf(Strike::needsDisk);
    }
    // Calls are where processes die in most different ways.
    all.addAll(Collections.nCopies(3, Strike.KILL_AT_A_CALL));
    all.addAll(Collections.nCopies(3, Strike.COMMAND_KILLED));
    Strike strike = all.get(random.nextInt(all.size()));
    return new Round(strike, Work.values()[random.nextInt(Work.values().length)]);
  }

  private Optional<Faults.Plan> plan(Strike strike) {
    String call = CALLS.get(random.nextInt(CALLS.size()));
    int nth = 1 + (int) Math.pow(300, random.nextDouble());
    int errno = random.nextBoolean() ? Faults.EIO : Faults.ENOSPC;
    return switch (strike) {
      case KILL_AT_A_CALL -> Optional.of(new Faults.Plan(call, nth, "kill", 0));
      case COMMAND_KILLED ->
          Optional.of(
              new Faults.Plan(call, 1 + (int) Math.pow(40, random.nextDouble()), "kill", 0));
      case ONE_CALL_FAILS -> Optional.of(new Faults.Plan(call, nth, "once", errno));
      case ALL_CALLS_FAIL -> Optional.of(new Faults.Plan(call, nth, "always", errno));
      case HALF_A_WRITE -> Optional.of(new Faults.Plan("write", nth, "short", Faults.ENOSPC));
      case FAILED_SYNC_AND_POWER_CUT ->
          Optional.of(new Faults.Plan("sync", nth, "once", Faults.EIO));
      default -> Optional.empty();
    };
  }

  private Map<String, String> environment(Strike strike, Optional<Faults.Plan> plan)
      throws IOException {
    Map<String, String> all = new TreeMap<>(installation.environment());
    if (plan.isPresent()) {
      all.putAll(faults.environment(plan.get()));
    } else {
      faults.forget();
    }
    if (strike == Strike.LITTLE_MEMORY) {
      all.put("WRIT_JAVA_OPTS", "-Xmx" + (40 + random.nextInt(40)) + "m");
    }
    if (strike == Strike.CLOCK_AHEAD || strike == Strike.CLOCK_BACK) {
      setClock("+0");
      all.put("LD_PRELOAD", LIBFAKETIME);
      all.put("FAKETIME_TIMESTAMP_FILE", clockFile().toString());
      all.put("FAKETIME_NO_CACHE", "1");
      all.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
      // Its correction of timed waits makes each of a JVM's return at once.
      all.put("FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }
    return all;
  }

  private Path clockFile() {
    return work.resolve("clock");
  }

  private void setClock(String offset) throws IOException {
    Path next = work.resolve("clock.next");
    Files.writeString(next, offset + "\n");
    Files.move(next, clockFile(), StandardCopyOption.REPLACE_EXISTING);
  }

  /** Everything acknowledged is there, the same bytes; what was not answered is now. */
  private void askAgain(URI address, int most) throws IOException, InterruptedException {
    Clients clients = new Clients(installation, memory, address);
    List<Digest> known = new ArrayList<>(memory.acknowledged.keySet());
    Collections.shuffle(known, random);
    try {
      for (Digest id : known.subList(0, Math.min(most, known.size()))) {
        Memory.Acknowledged held = memory.acknowledged.get(id);
        clients.submit(id, held.request(), held.outside());
        tally.asked();
      }
      for (Digest id : List.copyOf(memory.unanswered.keySet())) {
        clients.ask(id, memory.unanswered.get(id));
        tally.asked();
      }
    } finally {
      clients.stop();
    }
    requireOnceOutside();
  }

  private void askAgainUnlessStruck(URI address) throws InterruptedException {
    try {
      askAgain(address, ASKED_AGAIN);
    } catch (IOException e) {
      // The round's fault came already.
    }
  }

  private void requireOnceOutside() {
    outside
        .all()
        .forEach((id, times) -> {
          if (times > 1) {
            memory.find(id + " was done " + times + " times outside");
          }
        });
    for (Memory.Acknowledged held : memory.acknowledged.values()) {
      if (held.status().equals("succeeded")
          && held.outside().filter(id -> outside.times(id) != 1).isPresent()
          && held.answer().contains("done ")) {
        memory.find(held.receiptId() + " says that it was done outside, and it was not");
      }
    }
  }

  private void workAndStrike(
      Server server, URI address, Strike strike, Work focus, Optional<Faults.Plan> plan)
      throws IOException, InterruptedException {
    Clients clients = new Clients(installation, memory, address);
    List<Socket> idle = new ArrayList<>();
    clients.start(focus, random.nextLong());
    try {
      clients.await(1 + random.nextInt(plan.isPresent() ? 120 : 40));
      server.endsWithin(Duration.ofMillis(random.nextInt(30)));
      List<ProcessHandle> children = server.children();
      switch (strike) {
        case KILL_GROUP -> server.signalGroup("KILL");
        case KILL_CHILDREN_FIRST -> children.forEach(ProcessHandle::destroyForcibly);
        case STOP_AND_KILL -> {
          server.signal("STOP");
          server.endsWithin(Duration.ofMillis(random.nextInt(500)));
        }
        case KILL_WHILE_DRAINING -> {
          server.signal("TERM");
          server.endsWithin(Duration.ofMillis(random.nextInt(300)));
        }
        case POWER_CUT, FAILED_SYNC_AND_POWER_CUT ->
            disk.orElseThrow().cutPower(server, faults.unsynced());
        case DISK_FULL -> {
          disk.orElseThrow().fill(random.nextInt(200_000));
          clients.await(5);
        }
        case FEW_DESCRIPTORS -> {
          openIdle(address, idle);
          clients.await(5);
        }
        case CLOCK_AHEAD -> jump(clients, "+" + (1 + random.nextInt(2000)) + "d");
        case CLOCK_BACK -> jump(clients, "-" + (1 + random.nextInt(2000)) + "m");
        default -> {}
      }
    } finally {
      server.kill();
      tally.work(clients.stop());
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  private void jump(Clients clients, String offset) throws IOException, InterruptedException {
    setClock(offset);
    clients.await(8);
    setClock("+0");
    clients.await(4);
  }

  private static void openIdle(URI address, List<Socket> idle) {
    try {
      for (int i = 0; i < 700; i++) {
        idle.add(new Socket(address.getHost(), address.getPort()));
      }
    } catch (IOException e) {
      // As many as it takes.
    }
  }

  /** A command of the shell, killed or not, and once more without a fault. */
  private void command(Faults.Plan plan) throws IOException, InterruptedException {
    int number = 1_000_000 + random.nextInt(1_000_000_000);
    List<List<String>> commands =
        List.of(
            List.of("run", "js", "--json", "--param", "source=" + number),
            List.of("key", "new", "k" + number),
            List.of("policy", "activate", installation.policy(number).toString()),
            List.of("export", "run-0", "-o", work.resolve("e" + number).toString()),
            List.of("close", "main"),
            List.of("checkpoint"),
            List.of("tool", "submit", installation.toolPackage(number).toString()));
    List<String> command = new ArrayList<>(List.of(Server.LAUNCHER.toString(), "--home"));
    command.add(installation.home().toString());
    command.addAll(commands.get(random.nextInt(commands.size())));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment(Strike.COMMAND_KILLED, Optional.of(plan)));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();
    story.add(String.join(" ", command.subList(3, command.size())) + " ended with " + status);
    if (status == 70) {
      memory.find("an unforeseen failure: " + said);
    }
    tally.struck(faults);
  }

  /** The last word: a plain start, everything asked for again, and every checker of the house. */
  void conclude() throws IOException, InterruptedException {
    Server server =
        Server.start(installation.home(), work, environment(Strike.KILL, Optional.empty()), 0);
    Optional<URI> address = server.awaitListening();
    if (address.isEmpty()) {
      memory.find("it does not start: " + server.said());
      server.kill();
      return;
    }
    try {
      askAgain(address.get(), Integer.MAX_VALUE);
    } catch (IOException e) {
      memory.find("without a fault it cut a connection (" + e + "): " + server.said());
    }
    for (Digest id : memory.unanswered.keySet()) {
      String answer = String.valueOf(memory.refused.get(id));
      if (answer.contains(WORKSPACE_IN_DOUBT)) {
        tally.waiting(); // it may not run before somebody has looked at what is in doubt
      } else {
        memory.find("still without a receipt: " + id + ", answered " + answer);
      }
    }
    List<ProcessHandle> children = server.children();
    server.signal("TERM");
    int status = server.awaitEnd(children);
    if (status != 143) {
      memory.find("told to end, it ended with " + status + ": " + server.said());
    }
    tally.acknowledged(memory.acknowledged.size(), outside.all().size());
    requireSound();
  }

  private void requireSound() throws IOException, InterruptedException {
    require("fsck");
    require("audit");
    tally.resolved(resolveDoubts());
    requireKeys();
    for (String run : openRuns()) {
      require("close", run);
    }
    for (String run : runs()) {
      requireBundle(run);
    }
    require("fsck", "--second-opinion");
    require("audit");
  }

  private Run require(String... command) {
    Run run = installation.attempt(command);
    if (run.status() != 0) {
      memory.find(
          String.join(" ", command) + " ended with " + run.status() + ": " + run.out() + run.err());
    }
    return run;
  }

  private int resolveDoubts() {
    List<Memory.Acknowledged> doubts =
        memory.acknowledged.values().stream().filter(a -> a.status().equals("in_doubt")).toList();
    for (Memory.Acknowledged doubt : doubts) {
      boolean happened = doubt.outside().filter(id -> outside.times(id) == 1).isPresent();
      require("resolve", doubt.receiptId(), happened ? "happened" : "did-not-happen");
    }
    return doubts.size();
  }

  private void requireKeys() {
    String keys = require("key", "list", "--json").out();
    for (String kid : memory.enrolled) {
      if (!keys.contains(kid)) {
        memory.find("acknowledged, and not enrolled: " + kid);
      }
    }
    for (String kid : memory.revoked) {
      if (!keys.matches("(?s).*\\{[^{}]*" + kid + "[^{}]*revoked[^{}]*\\}.*")) {
        memory.find("acknowledged, and not revoked: " + kid);
      }
    }
  }

  private List<JsonValue.Obj> allRuns() {
    JsonValue.Obj said =
        Installation.object(require("runs", "--json").out().getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Arr) said.get("runs"))
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .filter(r -> JsonValue.of(Installation.TENANT).equals(r.get("tenant")))
            .toList();
  }

  private List<String> runs() {
    return allRuns().stream().map(r -> ((JsonValue.Str) r.get("run")).value()).toList();
  }

  private List<String> openRuns() {
    List<JsonValue.Obj> all = allRuns();
    for (JsonValue.Obj run : all) {
      if (memory.closedRuns.contains(((JsonValue.Str) run.get("run")).value())
          && !JsonValue.of(true).equals(run.get("closed"))) {
        memory.find("acknowledged as closed, and open: " + Installation.text(run));
      }
    }
    return all.stream()
        .filter(r -> !JsonValue.of(true).equals(r.get("closed")))
        .map(r -> ((JsonValue.Str) r.get("run")).value())
        .toList();
  }

  private void requireBundle(String run) throws IOException, InterruptedException {
    Path bundle = work.resolve("bundle.writ");
    Path verifier = work.resolve("verify.mjs");
    Files.deleteIfExists(bundle);
    require("export", run, "-o", bundle.toString());
    Digest before = memory.closedBundles.get(run);
    if (before != null && !before.equals(Digest.sha256(Files.readAllBytes(bundle)))) {
      memory.find("another bundle of the closed run " + run);
    }
    String trust = installation.home().resolve("trust.jwks").toString();
    require("verify", bundle.toString(), "--trust", trust);
    require("replay", bundle.toString(), "--trust", trust);
    if (!Files.exists(verifier)) {
      require("report", "--verifier", "-o", verifier.toString());
    }
    try {
      Shell.run("node", verifier.toString(), bundle.toString(), "--trust", trust);
    } catch (IOException e) {
      memory.find(run + ": " + e.getMessage());
    }
    tally.bundle();
  }

  @Override
  public void close() throws IOException {
    outside.close();
    if (disk.isPresent()) {
      disk.get().close();
    }
    Trees.remove(sandboxes);
  }
}
