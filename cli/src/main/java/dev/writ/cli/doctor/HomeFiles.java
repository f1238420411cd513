package dev.writ.cli.doctor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.cli.doctor.HostFinding.State;
import dev.writ.cli.home.Serving;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.sandbox.host.ShellScript;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files and folders of a data directory: who can read them, whose they are, what is missing,
 * and what a crash left. Everything in it belongs to the owner of the directory.
 */
public final class HomeFiles {
  /** No write of ours takes this long, so a draft that is older has no writer any more. */
  private static final Duration DRAFT_MAX = Duration.ofHours(1);

  private static final Pattern ANY_DRAFT = Pattern.compile("\\..+\\.new");
  private static final Pattern DRAFT_OF_A_KEY = Pattern.compile("\\..+\\.pem\\.[0-9]+\\.new");

  /** No server starts with one of these that others can read (CAN-072). */
  private static final List<String> KERNELS =
      RotatedKeys.ROLES.stream().map(role -> role.text() + ".pem").toList();

  private static final String PRIVATE_FILE = "rw-------";
  private static final String PRIVATE_FOLDER = "rwx------";

  private static final Set<PosixFilePermission> OF_OTHERS =
      PosixFilePermissions.fromString("---rwxrwx");
  private static final Set<PosixFilePermission> WRITES_OF_OTHERS =
      PosixFilePermissions.fromString("----w--w-");

  private final Home home;
  private final Instant now;
  private final List<HostFinding> findings = new ArrayList<>();

  private HomeFiles(Home home, Instant now) {
    this.home = home;
    this.now = now;
  }

  /**
   * Looks at the files.
   *
   * @param now by which files are old
   * @return one finding that is good, where there is nothing to say; nothing where there is no home
   */
  public static List<HostFinding> look(Home home, Instant now) {
    HomeFiles files = new HomeFiles(home, now);
    try {
      Path parts =
          home.dir().toAbsolutePath().resolveSibling(home.dir().getFileName() + ".partial");
      files.left(parts, "an init");
      files.copiedAnchors(parts); // before those by which they are known
      files.drafts(parts.getParent(), anchorsOf(parts));
      if (home.exists()) {
        files.look();
        if (files.findings.isEmpty()) {
          files.add(State.GOOD, "their owner's alone, and nothing is left of a crash");
        }
      }
    } catch (IOException | WritException e) {
      files.add(State.WARNING, "they cannot be looked at: " + e.getMessage());
    }
    return List.copyOf(files.findings);
  }

  /** Beside a home that is being made its anchors have its name for that time, too. */
  private static Pattern anchorsOf(Path parts) {
    return Pattern.compile(
        Pattern.quote(parts.getFileName().toString()) + "\\.anchor(\\.[0-9]+)?(\\.lock)?");
  }

  /** Of a home that did not come to its name: its process was killed just before. */
  private void copiedAnchors(Path parts) throws IOException {
    if (Files.exists(home.dir(), LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (Path ofParts : in(parts.getParent())) {
      String name = ofParts.getFileName().toString();
      if (!anchorsOf(parts).matcher(name).matches() || name.endsWith(".lock")) {
        continue;
      }
      String end = name.substring(parts.getFileName().toString().length());
      Path anchor = home.dir().toAbsolutePath().resolveSibling(home.dir().getFileName() + end);
      if (isOldFile(anchor) && HomeMaker.isLeft(anchor, ofParts)) {
        add(
            State.NOTE,
            anchor + " is left of an init that was cut off",
            Mend.remove(anchor, () -> isOldFile(anchor) && HomeMaker.isLeft(anchor, ofParts)));
      }
    }
  }

  private void look() throws IOException {
    PosixFileAttributes own = attributes(home.dir());
    writable(home.dir(), own, "rwx");
    for (Path folder : List.of(home.keys(), home.tools())) {
      if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
        add(State.WARNING, folder + " is missing", Mend.folder(folder));
      }
    }
    for (Path file : List.of(home.settings(), home.dir().resolve("gateway.yaml"))) {
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        writable(file, attributes(file), "rw-");
      }
    }
    keys(own);
    secrets(own);
    for (Path file : List.of(home.gatewaysSecret(), home.serving())) {
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        secret(file, "the secret in it");
        owned(file, own);
      }
    }
    drafts(home.dir(), ANY_DRAFT);
    ended();
    ledger(own);
  }

  private static PosixFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static List<Path> in(Path folder) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  private void add(State state, String found) {
    findings.add(new HostFinding(state, "files", found));
  }

  private void add(State state, String found, Mend mend) {
    findings.add(new HostFinding(state, "files", found).mendedBy(mend));
  }

  /**
   * What others must not change: whoever can, decides what a server does.
   *
   * @param ofOwner what its owner keeps
   */
  private void writable(Path path, PosixFileAttributes found, String ofOwner) {
    EnumSet<PosixFilePermission> now = EnumSet.copyOf(found.permissions());
    if (now.removeAll(WRITES_OF_OTHERS)) {
      String left = ofOwner + PosixFilePermissions.toString(now).substring(ofOwner.length());
      add(State.WARNING, path + " can be changed by others", Mend.mode(path, left));
    }
  }

  private void keys(PosixFileAttributes own) throws IOException {
    for (Path folder : home.keyPlaces().folders()) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        continue;
      }
      boolean ofHome = folder.equals(home.keys());
      if (ofHome) {
        privateFolder(folder);
      }
      for (Path file : in(folder)) {
        String name = file.getFileName().toString();
        if (!name.endsWith(".pem") || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          continue;
        }
        if (isExposed(file)) {
          boolean isOfKernel = ofHome && KERNELS.contains(name);
          secret(isOfKernel ? State.BAD : State.WARNING, file, "the key");
        }
        if (ofHome) {
          owned(file, own);
        }
      }
      // Another folder of keys may hold all kinds of files of its owner's.
      drafts(folder, ofHome ? ANY_DRAFT : DRAFT_OF_A_KEY);
    }
  }

  /** An encrypted key may be where others read it, and a public half is for everybody. */
  private static boolean isExposed(Path file) {
    try {
      KeyFiles.requireOwnersAlone(file);
      return false;
    } catch (WritException e) {
      return e.code().code().equals("CAN-072");
    } catch (IOException e) {
      return false; // whose it is says more
    }
  }

  private void secrets(PosixFileAttributes own) throws IOException {
    Path folder = home.dir().resolve("secrets");
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    privateFolder(folder);
    owned(folder, own);
    for (Path file : in(folder)) {
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        secret(file, "the secret");
        owned(file, own);
      }
    }
    drafts(folder, ANY_DRAFT);
  }

  private void privateFolder(Path folder) throws IOException {
    if (attributes(folder).permissions().stream().anyMatch(OF_OTHERS::contains)) {
      add(State.WARNING, folder + " can be entered by others", Mend.mode(folder, PRIVATE_FOLDER));
    }
  }

  /** Closing it does not make unread what was read: that is for people to decide. */
  private void secret(Path file, String what) throws IOException {
    secret(State.WARNING, file, what);
  }

  private void secret(State state, Path file, String what) throws IOException {
    if (attributes(file).permissions().stream().anyMatch(OF_OTHERS::contains)) {
      add(
          state,
          file
              + " can be read by others"
              + (state == State.BAD ? ", so no server starts (CAN-072)" : "")
              + ": if anybody may have, exchange "
              + what
              + ", too",
          Mend.mode(file, PRIVATE_FILE));
    }
  }

  private void owned(Path path, PosixFileAttributes own) throws IOException {
    PosixFileAttributes found = attributes(path);
    if (found.owner().equals(own.owner())) {
      return;
    }
    Mend mend = Mend.owner(path, own.owner(), own.group());
    HostFinding finding =
        new HostFinding(
            State.WARNING,
            "files",
            path + " belongs to " + found.owner().getName() + ", its folder does not");
    findings.add(
        isRoot() && hasOneName(path)
            ? finding.mendedBy(mend)
            : finding.helpedBy("sudo " + mend.text()));
  }

  /** A file that has another name elsewhere could be one that nobody meant to give away. */
  private static boolean hasOneName(Path path) throws IOException {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        || Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS).equals(1);
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  /** What a writer leaves that is killed before it renames its file. */
  private void drafts(Path folder, Pattern names) throws IOException {
    for (Path file : in(folder)) {
      if (names.matcher(file.getFileName().toString()).matches() && isOldFile(file)) {
        add(
            State.NOTE,
            file + " is left of a write that was cut off",
            Mend.remove(file, () -> isOldFile(file)));
      }
    }
  }

  private boolean isOldFile(Path file) throws IOException {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && isOld(attributes(file).lastModifiedTime());
  }

  private boolean isOld(FileTime time) {
    return time.toInstant().isBefore(now.minus(DRAFT_MAX));
  }

  /** A folder in which a home was made, and that nobody writes to any more. */
  private void left(Path folder, String of) throws IOException {
    if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) && isOldTree(folder)) {
      add(
          State.WARNING,
          folder + " is left of " + of + " that was cut off, and in the way of the next",
          Mend.remove(folder, () -> isOldTree(folder)));
    }
  }

  private boolean isOldTree(Path folder) throws IOException {
    boolean[] old = {true};
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path at, BasicFileAttributes found) {
            return looked(found);
          }

          @Override
          public FileVisitResult visitFile(Path at, BasicFileAttributes found) {
            return looked(found);
          }

          private FileVisitResult looked(BasicFileAttributes found) {
            old[0] = isOld(found.lastModifiedTime());
            return old[0] ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
          }
        });
    return old[0];
  }

  /** The address of a server that runs no more, with its token. */
  private void ended() throws IOException {
    Path file = home.serving();
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || mayRun()) {
      return;
    }
    byte[] said = Files.readAllBytes(file);
    add(
        State.NOTE,
        file + " is left of a server that was killed",
        Mend.remove(file, () -> !mayRun() && Arrays.equals(Files.readAllBytes(file), said)));
  }

  /** Also where the file cannot be read, as long as its server may just have written it. */
  private boolean mayRun() throws IOException {
    try {
      return Serving.of(home).isPresent();
    } catch (WritException e) {
      return !isOldFile(home.serving());
    }
  }

  /** Whose the log is, is said and not changed: nothing here touches the log. */
  private void ledger(PosixFileAttributes own) throws IOException {
    Path ledger = home.ledger();
    if (!Files.isDirectory(ledger, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Optional<Path> other = Optional.empty();
    List<Path> all = new ArrayList<>(List.of(ledger));
    all.addAll(in(ledger));
    all.addAll(in(ledger.resolve("db")));
    List<Path> anchor =
        Stream.of(home.anchor(), WriterLock.lockOf(home.anchor()))
            .filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
            .toList();
    all.addAll(anchor);
    for (Path path : all) {
      if (!attributes(path).owner().equals(own.owner())) {
        other = Optional.of(path);
        break;
      }
    }
    other.ifPresent(path ->
        findings.add(
            new HostFinding(
                    State.BAD,
                    "files",
                    path + " does not belong to " + own.owner().getName() + ", as all here has to")
                .helpedBy(
                    "sudo chown -hR "
                        + own.owner().getName()
                        + ":"
                        + own.group().getName()
                        + " "
                        + Stream.concat(Stream.of(ledger), anchor.stream())
                            .map(each -> ShellScript.quoted(each.toString()))
                            .collect(Collectors.joining(" "))
                        + ", while no server runs")));
  }
}
