package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.ApartExecutor;
import dev.writ.executor.SystemState;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Makes the homes of a guardian and of an executor that are apart (spec/apart.md). */
public final class ApartHomes {
  private static final String SECRET = "executor.secret";
  private static final String WITNESS = "witness";

  private ApartHomes() {}

  /** Where the secret lies that the two share. */
  public static Path secret(Home home) {
    return home.dir().resolve(SECRET);
  }

  /**
   * Makes an executor's home: its keys, its card, and the secret. It has no log before {@link
   * #join}.
   *
   * @param passphrase encrypts the keys; absent for plain files
   * @throws WritException {@code CLI-011} where something exists in its place
   */
  public static ExecutorCard init(Home home, Optional<char[]> passphrase, SecureRandom random) {
    Umask.ownersAlone();
    for (Path taken : List.of(home.dir(), home.anchor())) {
      if (Files.exists(taken)) {
        throw new WritException(EmbedError.HOME_EXISTS, taken.toString());
      }
    }
    try {
      DurableFiles.REAL.createDirectory(home.dir());
      DurableFiles.REAL.createDirectory(home.keys());
      DurableFiles.REAL.createDirectory(home.tools());
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.dir().toString(), e);
    }
    SigningKey executor = SigningKey.generateEd25519(random);
    SigningKey log = SigningKey.generateEd25519(random);
    KeyFiles.write(home.keyFile("executor"), executor, passphrase.orElse(null), random);
    KeyFiles.write(home.keyFile("log"), log, passphrase.orElse(null), random);
    GatewaysSecret.makeIfMissing(secret(home), random);
    String origin = "writ-" + Digest.sha256(log.verifyingKey().bytes()).hex().substring(0, 12);
    ExecutorCard card =
        new ExecutorCard(
            executor.verifyingKey(),
            new NoteKey(origin, log.verifyingKey()),
            witness(home, passphrase, origin, random));
    card.write(home);
    return card;
  }

  /** Makes the key with which this side cosigns checkpoints of the other's log. */
  private static WitnessKey witness(
      Home home, Optional<char[]> passphrase, String origin, SecureRandom random) {
    SigningKey key = SigningKey.generateEd25519(random);
    KeyFiles.write(home.keyFile(WITNESS), key, passphrase.orElse(null), random);
    return new WitnessKey(origin + "/witness", key.verifyingKey());
  }

  /** The key with which a home cosigns checkpoints of the other's log. */
  static WitnessKey witness(Home home, String origin) {
    return new WitnessKey(origin + "/witness", home.key(WITNESS).verifyingKey());
  }

  /** The secret half of that. */
  public static SigningKey witnessKey(Home home) {
    return home.key(WITNESS);
  }

  /** Where this side's witness keeps what it has seen. */
  public static Path witnessed(Home home) {
    return home.dir().resolve(WITNESS);
  }

  /** The newest checkpoint of the home's log that the other side has cosigned. */
  public static Path cosigned(Home home) {
    return home.dir().resolve("cosigned.txt");
  }

  /**
   * Has a guardian's home believe this executor from now on, and forget its own executor's key.
   *
   * @param secret the file of the executor's home, or a copy
   * @param passphrase encrypts the key of the guardian's witness; absent for a plain file
   * @return what the executor is founded on
   * @throws WritException {@code CLI-002}, {@code CLI-003}
   */
  public static GuardianCard split(
      Home home,
      LedgerView ledger,
      ExecutorCard executor,
      Path secret,
      Optional<char[]> passphrase,
      SecureRandom random) {
    GatewaysSecret.read(secret);
    if (!Files.exists(home.keyFile(WITNESS))) {
      witness(home, passphrase, home.origin(), random);
    }
    try {
      Umask.ownersAlone();
      if (!Files.exists(secret(home)) || !Files.isSameFile(secret, secret(home))) {
        Files.copy(secret, secret(home), StandardCopyOption.REPLACE_EXISTING);
      }
      executor.write(home);
      Files.deleteIfExists(home.keyFile("executor"));
      Files.deleteIfExists(home.nextKeyFile("executor"));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, secret(home).toString(), e);
    }
    return GuardianCard.of(home, ledger);
  }

  /**
   * Begins the log of an executor with a copy of its guardian's system run, each document of which
   * is verified.
   *
   * @throws WritException {@code EXE-912} where the executor's key is not enrolled there, and the
   *     code of a document that is not valid: the home is as it was then
   */
  public static void join(Home home, GuardianCard guardian, InstantSource clock) {
    Umask.ownersAlone();
    ExecutorCard own = ExecutorCard.read(ExecutorCard.of(home));
    if (Files.exists(home.ledger())) {
      throw new WritException(EmbedError.HOME_EXISTS, home.ledger().toString());
    }
    boolean whole = false;
    try (Ledger ledger =
        Ledger.create(
            new LedgerConfig(
                home.ledger(), home.anchor(), own.log().name(), home.key("log"), clock))) {
      ApartExecutor.found(
          ledger, guardian.system(), own.executor().kid(), clock, new SecureRandom());
      ledger.checkpoint();
      guardian.write(home);
      DurableFiles.REAL.write(
          home.trustFile(), Jcs.write(SystemState.read(ledger).trust().toJson()));
      DurableFiles.REAL.write(
          home.settings(),
          Jcs.write(Home.settings(own.log().name(), guardian.names(), Optional.empty(), 1)));
      whole = true;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.dir().toString(), e);
    } finally {
      if (!whole) {
        HomeMaker.remove(home.ledger());
        HomeMaker.remove(home.anchor());
        HomeMaker.remove(WriterLock.lockOf(home.anchor()));
        HomeMaker.remove(GuardianCard.of(home));
      }
    }
  }
}
