package dev.writ.cli.campaign;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.Run;
import dev.writ.cli.campaign.ErasureHome.Keeping;
import dev.writ.executor.SystemState;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.Deletions;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * The life of one installation whose processes are killed while they erase. After each kill the
 * next process carries out what was ordered, and then all that is left is searched.
 */
final class ErasureLife {
  private static final List<String> CALLS =
      List.of("sync", "write", "rename", "open", "link", "unlink");

  private final ErasureHome home;
  private final Path work;
  private final Faults faults;
  private final Random random;
  private final Stores stores;
  private final ErasureRecord record = new ErasureRecord();
  private final List<String> findings = new ArrayList<>();
  private final List<String> story = new ArrayList<>();
  private int struck;

  /** What of an installation lies elsewhere. */
  interface Stores {
    void search(ByteSearch search) throws IOException;
  }

  ErasureLife(ErasureHome home, Path work, Faults faults, long seed, Stores stores) {
    this.home = home;
    this.work = work;
    this.faults = faults;
    this.random = new Random(seed);
    this.stores = stores;
  }

  List<String> findings() {
    return findings.stream().map(f -> f + "\n  after " + String.join("; ", story)).toList();
  }

  /** How often a process was killed at a call, and how many orders were acknowledged. */
  String tally() {
    return struck
        + " killed at a call, "
        + record.acknowledgedOrders()
        + " orders acknowledged of "
        + record.orders().size()
        + ", "
        + record.made().size()
        + " contents";
  }

  /**
   * Calls where keys are changed are few, so most of the kills are there.
   *
   * @param least calls of a start, before which there is nothing to be seen
   */
  private Map<String, String> environment(int least, int most) throws IOException {
    boolean atKeys = random.nextInt(3) > 0;
    int nth = (int) Math.pow(atKeys ? 24 : most, random.nextDouble()) + (atKeys ? 0 : least);
    Faults.Plan plan = new Faults.Plan(CALLS.get(random.nextInt(CALLS.size())), nth, "kill", 0);
    story.add(plan + (atKeys ? " of keys" : ""));
    Map<String, String> all = new TreeMap<>(home.environment());
    all.putAll(faults.environment(plan, atKeys ? keys() : home.dir().toRealPath()));
    return all;
  }

  private Path keys() throws IOException {
    return home.dir().toRealPath().resolve("content-keys");
  }

  /** A server under load is killed, at a call or after some orders. */
  void server(Keeping keeping) throws IOException, InterruptedException {
    home.keep(keeping);
    story.add(keeping + ": server killed");
    Server server = Server.start(home.dir(), work, environment(150, 900), 0);
    try {
      Optional<URI> address = server.awaitListening();
      if (address.isPresent()) {
        ErasureClients clients = new ErasureClients(home, record, keeping, address.get());
        clients.start(random);
        clients.await(4 + random.nextInt(6));
        server.kill();
        findings.addAll(clients.stop());
      }
    } finally {
      server.kill();
      struck += faults.struck();
    }
    conclude();
  }

  /** A command that erases is killed at a call, and the one that would go on is, too. */
  void commands() throws IOException, InterruptedException {
    String subject = ErasureHome.SUBJECTS.get(random.nextInt(ErasureHome.SUBJECTS.size()));
    Optional<String> named = Optional.of(subject);
    Set<Digest> before = given();
    ErasureRecord.Order order =
        record.order(Digest.sha256(new byte[0]), named, Optional.empty(), home.ledger());
    story.add("erase killed");
    int status = killed("erase", ErasureHome.TENANT, "--subject", subject);
    Set<Digest> added = given();
    added.removeAll(before);
    added.forEach(id -> record.orders(order.named(id)));
    if (status == 0 && added.isEmpty()) {
      findings.add("erase succeeded, and no order is there");
    }
    story.add("retention run killed");
    killed("retention", "run");
    conclude();
  }

  /** Orders that the log has. */
  private Set<Digest> given() {
    try (LedgerView ledger = home.read()) {
      return new HashSet<>(SystemState.read(ledger).erasures().keySet());
    }
  }

  private int killed(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of(Server.LAUNCHER.toString(), "--home", home.dir().toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment(1, 120));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();
    if (status != 0 && status != 137) {
      findings.add(String.join(" ", arguments) + " ended with " + status + ": " + said);
    }
    struck += faults.struck();
    return status;
  }

  private Run require(String... command) {
    Run run = home.attempt(command);
    if (run.status() != 0) {
      findings.add(
          String.join(" ", command) + " ended with " + run.status() + ": " + run.out() + run.err());
    }
    return run;
  }

  /** The next process goes on; then what was ordered is gone, and all else is there. */
  private void conclude() throws IOException {
    require("retention", "run");
    require("gc"); // of a bucket: what was stored for a write that never came
    require("fsck");
    String audit = require("audit").out();
    ByteSearch search = new ByteSearch();
    Set<ErasureRecord.Made> erased = new HashSet<>();
    Set<ErasureRecord.Unanswered> open = new HashSet<>();
    try (LedgerView ledger = home.read()) {
      Set<Digest> given = SystemState.read(ledger).erasures().keySet();
      for (Digest order : given) {
        if (ContentRetention.erasedAt(ledger, order).isEmpty()) {
          findings.add("not carried out: " + order);
        }
      }
      for (ErasureRecord.Order order : record.orders()) {
        if (given.contains(order.id())) {
          erased.addAll(order.covers());
          open.addAll(order.mayCover());
          order.secrets().forEach(search::add);
        } else if (record.isAcknowledged(order.id())) {
          findings.add("acknowledged, and not there: " + order.id());
        }
      }
      if (!erased.isEmpty() && !audit.contains("contents: erased at ")) {
        findings.add("the audit tells of no erasure: " + audit);
      }
      requireContents(ledger, erased, open, given, search);
    }
    requireNoneRetired();
    search.below(work);
    stores.search(search);
    search.found().forEach((what, places) -> findings.add(what + " is still in " + places));
  }

  private void requireNoneRetired() throws IOException {
    Path retired = keys().resolve("retired");
    if (Files.isDirectory(retired)) {
      try (var files = Files.list(retired)) {
        files.forEach(file -> findings.add("a retired key is left: " + file));
      }
    }
  }

  /**
   * @param erased what an order covers
   * @param open requests that an order may cover
   */
  private void requireContents(
      LedgerView ledger,
      Set<ErasureRecord.Made> erased,
      Set<ErasureRecord.Unanswered> open,
      Set<Digest> orders,
      ByteSearch search) {
    Set<Digest> needed = new HashSet<>();
    Set<Digest> either = new HashSet<>();
    for (ErasureRecord.Made made : record.made()) {
      if (erased.contains(made)) {
        continue;
      }
      if (!open.contains(made.request())) {
        needed.add(made.content());
        requireThere(ledger, made);
      } else if (ledger.hasBlob(made.content())) {
        either.add(made.content());
        requireThere(ledger, made);
      } else {
        requireErased(ledger, made, orders);
      }
    }
    for (ErasureRecord.Made made : record.made()) {
      Digest content = made.content();
      boolean gone =
          !needed.contains(content) && !either.contains(content) && !record.mayBeThere(content);
      if (gone) {
        requireErased(ledger, made, orders);
      }
      if (gone || !record.wasInTheClear(content)) {
        search.add("content " + content + " of " + made.run(), made.bytes());
      }
    }
  }

  private void requireThere(LedgerView ledger, ErasureRecord.Made made) {
    try {
      if (!Digest.sha256(ledger.blob(made.content(), 1 << 20)).equals(made.content())) {
        findings.add("another content: " + made.content());
      }
    } catch (WritException e) {
      findings.add("not erased, and not there: " + made.content() + " of " + made.run() + ": " + e);
    }
  }

  private void requireErased(LedgerView ledger, ErasureRecord.Made made, Set<Digest> orders) {
    if (ledger.hasBlob(made.content())) {
      findings.add("erased, and there: " + made.content() + " of " + made.run());
    }
    boolean stated =
        Deletions.of(ledger, made.content())
            .filter(found ->
                orders.stream()
                    .anyMatch(order -> found.deletion().reason().text().contains(order.toString())))
            .isPresent();
    if (!stated) {
      findings.add("erased, and no statement says so: " + made.content() + " of " + made.run());
    }
  }

  /** Both verifiers take a bundle of each subject, and tell an erasure from a loss. */
  void requireBundles() throws IOException, InterruptedException {
    Path verifier = work.resolve("verify.mjs");
    require("report", "--verifier", "-o", verifier.toString());
    require("checkpoint");
    String trust = home.dir().resolve("trust.jwks").toString();
    int told = 0;
    for (String subject : ErasureHome.SUBJECTS) {
      for (String run : record.runs(subject)) {
        if (told > 4 || record.of(Optional.empty(), Optional.of(run)).isEmpty()) {
          continue;
        }
        Path bundle = work.resolve(run + ".writ");
        require("export", run, "-o", bundle.toString());
        String first = require("verify", bundle.toString(), "--trust", trust).out();
        String second = Shell.run("node", verifier.toString(), bundle.toString(), "--trust", trust);
        if (first.contains("contents: erased at ") != second.contains("contents: erased at ")) {
          findings.add(run + ": the verifiers differ: " + first + second);
        }
        told += first.contains("contents: erased at ") ? 1 : 0;
        Files.delete(bundle); // it has contents in the clear
      }
    }
    if (told == 0) {
      findings.add("no bundle tells of an erasure");
    }
  }
}
