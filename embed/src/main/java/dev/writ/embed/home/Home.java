package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.CellPlacement;
import dev.writ.tools.process.SecretDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A data directory: the ledger, the keys, the policy and the registered tools of one installation.
 * The anchor lies beside it, so that restoring the directory from a backup does not restore the
 * anchor.
 *
 * @param dir for example {@code writ-data}
 * @param passphrase of the key files, asked only where one is encrypted
 * @param brought keys that the caller gives, by name; they are in no file
 * @param lookup where keys are looked for that are not in the home
 * @param cell which of the installation's logs is meant, where it has several (spec/cells.md)
 */
public record Home(
    Path dir,
    KeyPassphrase passphrase,
    Map<String, SigningKey> brought,
    KeyLookup lookup,
    int cell) {
  static final int FORMAT = 1;

  /** The end of the name of a file with a key that waits. */
  private static final String NEXT = ".next.pem";

  public Home {
    dir = dir.toAbsolutePath().normalize();
    brought = Map.copyOf(brought);
  }

  /** A home and its log, the system cell of several. */
  public Home(
      Path dir, KeyPassphrase passphrase, Map<String, SigningKey> brought, KeyLookup lookup) {
    this(dir, passphrase, brought, lookup, CellPlacement.SYSTEM);
  }

  /** A home with one passphrase for all files, and keys that the caller gives. */
  public Home(Path dir, Supplier<char[]> passphrase, Map<String, SigningKey> brought) {
    this(dir, _ -> passphrase.get(), brought, KeyLookup.NONE);
  }

  /** A home whose keys are all in files, with one passphrase. */
  public Home(Path dir, Supplier<char[]> passphrase) {
    this(dir, passphrase, Map.of());
  }

  /** The same in another directory. */
  public Home at(Path other) {
    return new Home(other, passphrase, brought, lookup, cell);
  }

  /** The same with another log of the installation. */
  public Home inCell(int number) {
    return new Home(dir, passphrase, brought, lookup, number);
  }

  /**
   * Opens an existing one.
   *
   * @throws WritException {@code CLI-010} where there is none, {@code CLI-012} where it is of
   *     another format
   */
  public static Home existing(Path dir, Supplier<char[]> passphrase) {
    Home home = new Home(dir, passphrase);
    home.requireExisting();
    return home;
  }

  /** Whether the directory holds a home; {@link #requireExisting} also checks its format. */
  public boolean exists() {
    return Files.isRegularFile(settings());
  }

  /**
   * @throws WritException {@code CLI-010} where there is none, {@code CLI-002} where it may not be
   *     read, is damaged or has lost its settings, {@code CLI-012} where it is of another format
   */
  public void requireExisting() {
    if (!exists()) {
      throw missing();
    }
    long format = setting(Home::format);
    if (format != FORMAT) {
      throw new WritException(
          EmbedError.HOME_FORMAT, "format " + format + ", this release reads " + FORMAT);
    }
  }

  /** Of settings of this format nothing may be missing that {@link #settings} writes. */
  private static long format(Fields settings) {
    long format = settings.count("format");
    if (format == FORMAT) {
      List.of("origin", "tenant", "agent", "approver").forEach(settings::name);
    }
    return format;
  }

  private WritException missing() {
    if (Files.exists(dir) && !Files.isDirectory(dir)) {
      return new WritException(EmbedError.FILE_UNREADABLE, dir + " is no folder");
    }
    // A directory that may not be entered does not even tell whether something is in it.
    if (Files.exists(dir) && !Files.isExecutable(dir)) {
      return new WritException(
          EmbedError.FILE_UNREADABLE, dir + " may not be entered by this user");
    }
    // Nobody is to make another one in the place of a ledger and its keys.
    return hasLostSettings()
        ? new WritException(EmbedError.FILE_UNREADABLE, lostSettings())
        : new WritException(EmbedError.NO_HOME, dir.toString());
  }

  /** Whether there is a ledger, and no file that says what it is: none, a link, a directory. */
  boolean hasLostSettings() {
    return !exists() && Files.isDirectory(ledger());
  }

  String lostSettings() {
    String what =
        Files.exists(settings(), LinkOption.NOFOLLOW_LINKS) ? " is no file" : " is missing";
    return settings() + what + ": put it back from a backup";
  }

  public Path settings() {
    return dir.resolve("writ.json");
  }

  public Path ledger() {
    return cell == CellPlacement.SYSTEM
        ? dir.resolve("ledger")
        : dir.resolve("cells").resolve(String.valueOf(cell));
  }

  public Path keys() {
    return dir.resolve("keys");
  }

  public Path policyFile() {
    return dir.resolve("policy.yaml");
  }

  /** The public keys in a file, for auditors; the ledger's record is authoritative. */
  public Path trustFile() {
    return dir.resolve("trust.jwks");
  }

  public Path tools() {
    return dir.resolve("tools");
  }

  /** What policy may grant to tools. */
  public SecretDirectory secrets() {
    return new SecretDirectory(dir.resolve("secrets"));
  }

  /** The file in which a server that has this home open publishes its address. */
  public Path serving() {
    return dir.resolve("serving.json");
  }

  /** The secret by which gateways that share an installation know each other. */
  public Path gatewaysSecret() {
    return dir.resolve("gateways.secret");
  }

  public Path anchor() {
    String ofCell = cell == CellPlacement.SYSTEM ? "" : "." + cell;
    return dir.resolveSibling(dir.getFileName() + ".anchor" + ofCell);
  }

  public Path keyFile(String name) {
    return keys().resolve(name + ".pem");
  }

  /** Where a key waits to take the place of the one of that name: see {@link RotatedKeys}. */
  public Path nextKeyFile(String name) {
    return keys().resolve(name + NEXT);
  }

  /** The names of the key files. */
  public List<String> keyNames() {
    try (Stream<Path> files = Files.list(keys())) {
      List<String> names = new ArrayList<>();
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".pem") && !name.endsWith(NEXT))
          .sorted()
          .forEach(name -> names.add(name.substring(0, name.length() - ".pem".length())));
      return names;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, keys().toString(), e);
    }
  }

  /**
   * A private key (spec/keys.md, "Where a private key is").
   *
   * @param key a name, a file, {@code agent:} and what an agent's key is named by, or the {@code
   *     pkcs11:} URI of a token's
   * @throws WritException {@code CLI-013} for no possible name, {@code CLI-024} where there is no
   *     key of that name, {@code CAN-07x} where its file cannot be read, {@code SGN-0xx} where an
   *     agent or a token does not have it
   */
  public SigningKey key(String key) {
    Optional<SigningKey> outside = lookup.named(key, passphrase);
    if (outside.isPresent()) {
      return outside.get();
    }
    if (KeyPlaces.isFile(key)) {
      return read(Path.of(key));
    }
    if (!key.matches("[A-Za-z0-9._-]+") || key.startsWith(".")) {
      throw new WritException(EmbedError.KEY_NAME, "\"" + key + "\"");
    }
    SigningKey own = brought.get(key);
    return own != null ? own : read(keyFileInUse(key));
  }

  /** Whether {@link #key} finds one of that name; it may be unreadable all the same. */
  public boolean hasKey(String name) {
    try {
      return brought.containsKey(name) || Files.exists(keyFileInUse(name));
    } catch (WritException e) {
      return false;
    }
  }

  /** Where private keys are looked for. */
  public KeyPlaces keyPlaces() {
    return new KeyPlaces(this);
  }

  /** The key of a file, or of the token or agent where the file has only the public half. */
  SigningKey read(Path file) {
    return KeyFiles.publicHalf(file)
        .map(half -> lookup.other(half, passphrase))
        .orElseGet(() -> KeyFiles.read(file, () -> passphrase.of(file)));
  }

  /** Where a key was lost, the one that is to take its place is all there is. */
  private Path keyFileInUse(String name) {
    return !Files.exists(keyFile(name)) && Files.exists(nextKeyFile(name))
        ? nextKeyFile(name)
        : keyPlaces().find(name);
  }

  /** The key that waits to take the place of the one of that name. */
  Optional<SigningKey> nextKey(String name) {
    return Files.exists(nextKeyFile(name))
        ? Optional.of(read(nextKeyFile(name)))
        : Optional.empty();
  }

  /** The log's name, as checkpoints and intents state it. */
  public String origin() {
    return origin(installation(), cell);
  }

  /** The name of the installation, which is that of its first log. */
  public String installation() {
    return setting(fields -> fields.name("origin"));
  }

  /** The name of a cell's log: two logs of one name would look like one that was forked. */
  static String origin(String installation, int cell) {
    return CellPlacement.origin(installation, cell);
  }

  /** How many logs the installation has. */
  public int cells() {
    return setting(fields -> fields.optional("cells", fields::count)).orElse(1L).intValue();
  }

  /** The tenant of the keys made with the home. */
  public String tenant() {
    return setting(fields -> fields.name("tenant"));
  }

  /** Which key signs requests unless the caller names another. */
  public String agent() {
    return setting(fields -> fields.name("agent"));
  }

  /** Which key approves unless the caller names another. */
  public String approver() {
    return setting(fields -> fields.name("approver"));
  }

  /** Whoever reads that a field is missing has given none, and must be told which file it is. */
  <T> T setting(Function<Fields, T> read) {
    JsonValue now = settingsNow();
    try {
      return read.apply(Fields.of(settings().toString(), now));
    } catch (WritException e) {
      throw damaged(e);
    }
  }

  /** The same of a text that ends too early. */
  JsonValue settingsNow() {
    try {
      return Jcs.parse(Files.readAllBytes(settings()), Limits.DEFAULT);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, settings().toString(), e);
    } catch (WritException e) {
      throw damaged(e);
    }
  }

  private WritException damaged(WritException e) {
    return new WritException(
        EmbedError.FILE_UNREADABLE,
        settings()
            + " is damaged ("
            + e.code().code()
            + " "
            + e.found()
            + "): put it back from a backup",
        e);
  }

  /**
   * @param apart where the keys of people and agents were made, if not in the home
   * @param cells how many logs the installation has
   */
  static JsonValue settings(String origin, Names names, Optional<Path> apart, int cells) {
    ObjectBuilder plain =
        JsonValue.object()
            .put("format", FORMAT)
            .put("origin", origin)
            .put("tenant", names.tenant())
            .put("agent", names.agent())
            .put("approver", names.approver());
    JsonValue.Obj settings = (cells == 1 ? plain : plain.put("cells", cells)).build();
    return apart.isEmpty() ? settings : KeyPlaces.with(settings, List.of(apart.get()));
  }

  /** Who is who in a new home. */
  public record Names(String tenant, String agent, String approver) {}
}
