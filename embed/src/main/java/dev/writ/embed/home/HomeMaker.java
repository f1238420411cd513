package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemState;
import dev.writ.executor.SystemStatement;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.disk.WriterLock;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Makes a home: keys, policy, ledger. It is built in a temporary directory beside its place and
 * renamed when it is complete, so that a failure leaves nothing half-written.
 */
public final class HomeMaker {
  private final Home home;
  private final Home.Names names;
  private final KeySource keys;
  private final InstantSource clock;
  private final SecureRandom random;
  private final Optional<URI> database;
  private final Optional<URI> contents;
  private final List<Holder> surfaces;
  private final int cells;

  /**
   * @param keys where its private keys come from
   */
  public HomeMaker(
      Home home, Home.Names names, KeySource keys, InstantSource clock, SecureRandom random) {
    this(home, names, keys, clock, random, Optional.empty(), Optional.empty(), List.of(), 1);
  }

  private HomeMaker(
      Home home,
      Home.Names names,
      KeySource keys,
      InstantSource clock,
      SecureRandom random,
      Optional<URI> database,
      Optional<URI> contents,
      List<Holder> surfaces,
      int cells) {
    this.cells = cells;
    this.home = home;
    this.names = names;
    this.keys = keys;
    this.clock = clock;
    this.random = random;
    this.database = database;
    this.contents = contents;
    this.surfaces = surfaces;
  }

  /**
   * One that also makes a key with which a surface vouches for its callers: a server that has no
   * operator's key cannot have it enrolled later.
   *
   * @param file the key's name
   * @param surface its holder
   */
  public HomeMaker withSurfaceKey(String file, String surface) {
    Holder holder = new Holder(file, KeyRole.SURFACE, Optional.of(names.tenant()), surface);
    return new HomeMaker(
        home, names, keys, clock, random, database, contents, List.of(holder), cells);
  }

  /**
   * One that keeps the ledger's rows in the database at this address (spec/storage.md).
   *
   * @param store the address of a store for large contents; empty for the home
   */
  public HomeMaker withDatabase(URI address, Optional<URI> store) {
    return withDatabase(address, store, 1);
  }

  /**
   * One with several logs in that database (spec/cells.md).
   *
   * @param address of the first one
   * @param store the folder or prefix of a store below which each log has its large contents
   * @param number of logs
   * @throws WritException {@code CLI-027} where the address names a cell, or there is no store
   */
  public HomeMaker withDatabase(URI address, Optional<URI> store, int number) {
    CellAddress.requireUsable(address, store, number);
    return new HomeMaker(
        home, names, keys, clock, random, Optional.of(address), store, surfaces, number);
  }

  private record Holder(String file, KeyRole role, Optional<String> tenant, String subject) {}

  private List<Holder> holders() {
    Optional<String> tenant = Optional.of(names.tenant());
    List<Holder> holders = new ArrayList<>();
    holders.addAll(
        List.of(
            new Holder("operator", KeyRole.OPERATOR, Optional.empty(), "operator"),
            new Holder("policy-owner", KeyRole.POLICY_OWNER, Optional.empty(), "policy-owner"),
            new Holder("guardian", KeyRole.GUARDIAN, Optional.empty(), "guardian"),
            new Holder("executor", KeyRole.EXECUTOR, Optional.empty(), "executor"),
            new Holder("log", KeyRole.LOG, Optional.empty(), "log"),
            new Holder(names.agent(), KeyRole.AGENT, tenant, names.agent()),
            new Holder(names.approver(), KeyRole.APPROVER, tenant, names.approver())));
    holders.addAll(surfaces);
    return holders;
  }

  /**
   * @param policyText the policy to begin with
   * @throws WritException {@code CLI-011} if something exists in its place; {@code CLI-013} for
   *     names that no keys can have, or two of them, and for a key that is brought for nobody;
   *     {@code CLI-025} for a folder of keys in it, {@code CAN-071} where a key of a name is in
   *     that folder
   */
  public void make(String policyText) {
    Umask.ownersAlone();
    requireFree(home, cells);
    requireNames();
    keys.apart().ifPresent(place -> MovedKeys.makeFolder(home, place.folder()));
    Path parts = home.dir().resolveSibling(home.dir().getFileName() + ".partial");
    HalfMade making;
    try {
      making = HalfMade.at(parts);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.HOME_EXISTS, parts + ", left by another start", e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, parts.toString(), e);
    }
    requireStillFree(home, cells, parts, making);
    boolean whole = false;
    List<Path> apart = new ArrayList<>();
    try {
      removeAnchors(home, cells);
      removeAnchors(home.at(parts), cells);
      build(home.at(parts), policyText, apart);
      making.requireWhole();
      name(home.at(parts), home, cells);
      whole = true;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, parts + ": " + e.getMessage(), e);
    } finally {
      try (making) {
        if (!whole) {
          apart.forEach(HomeMaker::remove);
          removeAnchors(home, cells);
          removeAnchors(home.at(parts), cells);
          remove(parts);
        }
      }
    }
  }

  /** Each key has a file that is named by it; who brings one for a name has none made for it. */
  private void requireNames() {
    List<String> names = holders().stream().map(Holder::file).toList();
    for (String name : names) {
      if (!KeyPlaces.isName(name)) {
        throw new WritException(EmbedError.KEY_NAME, "\"" + name + "\"");
      }
      if (Collections.frequency(names, name) > 1) {
        throw new WritException(
            EmbedError.KEY_NAME, "\"" + name + "\" would be the name of two of " + names);
      }
    }
    for (String brought : new TreeSet<>(keys.brought().keySet())) {
      if (!names.contains(brought)) {
        throw new WritException(
            EmbedError.KEY_NAME,
            "\"" + brought + "\" is given, and keys are made for " + names + " alone");
      }
    }
  }

  /**
   * Gives a home that is whole its name. Its anchors have names of their own until then, so that
   * what a killed process leaves is in nobody's way. Copies of them go first, since a home without
   * its anchor would not open; by those that stay beside a copy is known as one ({@link #isLeft}).
   */
  static void name(Home parts, Home home, int cells) throws IOException {
    for (int cell = 0; cell < cells; cell++) {
      Path anchor = parts.inCell(cell).anchor();
      remove(WriterLock.lockOf(anchor));
      DurableFiles.REAL.write(home.inCell(cell).anchor(), Files.readAllBytes(anchor));
    }
    DurableFiles.REAL.move(parts.dir(), home.dir());
    removeAnchors(parts, cells);
  }

  /**
   * Whether the anchor of a home that is not there was left by a process that was killed as it gave
   * that home its name: it is what the anchor of the half-made home is.
   */
  public static boolean isLeft(Path anchor, Path ofParts) {
    try {
      return Files.isRegularFile(anchor, LinkOption.NOFOLLOW_LINKS)
          && Files.isRegularFile(ofParts, LinkOption.NOFOLLOW_LINKS)
          && Files.mismatch(anchor, ofParts) < 0;
    } catch (IOException _) {
      return false;
    }
  }

  /** Those of a home that is not whole, or that a killed process left. */
  static void removeAnchors(Home of, int cells) {
    for (int cell = 0; cell < cells; cell++) {
      Path anchor = of.inCell(cell).anchor();
      remove(anchor);
      remove(WriterLock.lockOf(anchor));
    }
  }

  /**
   * @throws WritException {@code CLI-011}; {@code CLI-002} where what exists is a home that has
   *     lost its settings, which nobody is to be told to remove
   */
  static void requireFree(Home home, int cells) {
    if (home.hasLostSettings()) {
      throw new WritException(EmbedError.FILE_UNREADABLE, home.lostSettings());
    }
    List<Path> taken = new ArrayList<>(List.of(home.dir()));
    Home parts = home.at(home.dir().resolveSibling(home.dir().getFileName() + ".partial"));
    for (int cell = 0; cell < cells; cell++) {
      Path anchor = home.inCell(cell).anchor();
      if (!isLeft(anchor, parts.inCell(cell).anchor())) {
        taken.add(anchor);
      }
    }
    for (Path each : taken) {
      if (Files.exists(each)) {
        throw new WritException(EmbedError.HOME_EXISTS, each.toString());
      }
    }
  }

  /**
   * The same for whoever has made the parts by now: nobody else makes that home meanwhile, but
   * somebody may have finished it since it was looked for, and what is there is not to be removed.
   */
  static void requireStillFree(Home home, int cells, Path parts, HalfMade making) {
    try {
      requireFree(home, cells);
    } catch (WritException e) {
      try (making) {
        remove(parts);
      }
      throw e;
    }
  }

  /**
   * @param apart takes the key files that were made elsewhere
   */
  private void build(Home parts, String policyText, List<Path> apart) throws IOException {
    makePrivate(parts.keys());
    makePrivate(parts.tools());
    Instant now = Timestamps.truncate(clock.instant());
    List<SigningKey> made = new ArrayList<>();
    List<TrustedKey> trusted = new ArrayList<>();
    for (Holder holder : holders()) {
      SigningKey key = keys.make(parts, holder.file(), holder.role(), random);
      keys.file(parts, holder.file(), holder.role())
          .filter(file -> !file.startsWith(parts.dir()))
          .ifPresent(apart::add);
      made.add(key);
      trusted.add(
          new TrustedKey(
              key.verifyingKey(),
              holder.role(),
              holder.tenant(),
              holder.subject(),
              now,
              Optional.empty(),
              Optional.empty()));
    }
    SigningKey operator = made.get(0);
    SigningKey policyOwner = made.get(1);
    SigningKey log = made.get(4);
    byte[] policyBytes = policyText.getBytes(StandardCharsets.UTF_8);
    Policy policy = Policy.parse(policyBytes, parts.policyFile().getFileName().toString());
    String origin = "writ-" + Digest.sha256(log.verifyingKey().bytes()).hex().substring(0, 12);
    List<Envelope> changes =
        trusted.stream()
            .map(key ->
                Envelope.sign(
                    SystemChange.TYPE,
                    new SystemChange(EventKind.KEY_ENROLLED, key.toJson(), now).toJson(),
                    operator))
            .toList();
    Envelope firstPolicy = Envelope.sign(SystemState.POLICY_TYPE, policy.toJson(), policyOwner);
    List<SystemStatement> stated;
    try (Ledger ledger = create(parts, origin, log, CellPlacement.SYSTEM)) {
      Kernel.found(ledger, changes, firstPolicy, clock, random);
      ledger.checkpoint();
      stated = SystemStatement.read(ledger, 0);
    }
    if (cells > 1) {
      makePrivate(parts.dir().resolve("cells"));
    }
    for (int cell = 1; cell < cells; cell++) {
      try (Ledger ledger = create(parts, origin, log, cell)) {
        Kernel.copy(ledger, stated, random);
        ledger.checkpoint();
      }
    }
    if (database.isPresent()) {
      GatewaysSecret.makeIfMissing(parts, random);
    }
    DurableFiles.REAL.write(parts.policyFile(), policyBytes);
    DurableFiles.REAL.write(parts.trustFile(), Jcs.write(Trust.of(trusted).toJson()));
    DurableFiles.REAL.write(
        parts.settings(),
        Jcs.write(Home.settings(origin, names, keys.apart().map(KeySource.Apart::folder), cells)));
  }

  private Ledger create(Home parts, String installation, SigningKey log, int cell) {
    LedgerConfig config =
        new LedgerConfig(
            parts.inCell(cell).ledger(),
            parts.inCell(cell).anchor(),
            Home.origin(installation, cell),
            log,
            clock);
    return database
        .map(address ->
            Ledger.create(
                config,
                CellAddress.database(address, cell),
                contents.map(store -> CellAddress.newContents(store, cell, cells))))
        .orElseGet(() -> Ledger.create(config));
  }

  private static void makePrivate(Path dir) throws IOException {
    DurableFiles.REAL.createDirectory(dir);
  }

  /** Removes a tree, if it is there. */
  public static void remove(Path path) {
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> all = Files.walk(path)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "removing " + path, e);
    }
  }
}
