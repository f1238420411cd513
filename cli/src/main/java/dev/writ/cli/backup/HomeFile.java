package dev.writ.cli.backup;

import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.ledger.seal.ContentKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A file of a home beside its ledger.
 *
 * @param path relative to the home, with slashes
 * @param holdsSecrets whether it is in a backup only if that is encrypted (spec/backup.md, "What is
 *     in it"); of a file that Writ does not know it is assumed
 */
record HomeFile(String path, Path file, boolean holdsSecrets) {
  /** Where a backup has names of the files that it reads. */
  static final String SCRATCH = "backup.new";

  /** Folders of a home that are Writ's alone. */
  static final List<String> OWN =
      List.of("ledger", ContentKeys.FOLDER, "keys", "tools", "secrets", SCRATCH);

  private static final List<String> PUBLIC =
      List.of("writ.json", "policy.yaml", "gateway.yaml", "trust.jwks", HomeArchive.FILE);

  /** How key files begin that show nothing to whoever reads them. */
  private static final List<String> SHOWN_KEYS =
      List.of("-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----");

  /** All that a backup has, sorted by path. */
  static List<HomeFile> of(Home home) throws IOException {
    List<Path> outside =
        List.of(home.ledger(), contentKeys(home), home.serving(), home.dir().resolve(SCRATCH));
    List<HomeFile> found = new ArrayList<>();
    Files.walkFileTree(
        home.dir(),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
            boolean isBelow = !dir.equals(home.dir());
            return outside.contains(dir) || isBelow && (isHidden(dir) || isOfBackups(dir))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (attributes.isRegularFile() && !outside.contains(file) && !isHidden(file)) {
              found.add(of(home, file));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    found.sort(Comparator.comparing(HomeFile::path));
    return found;
  }

  /**
   * In no backup: what an erasure destroys would stay in each of them (spec/backup.md, "What is in
   * it").
   */
  static Path contentKeys(Home home) {
    return home.ledger().resolveSibling(ContentKeys.FOLDER);
  }

  /** Else each backup would have all earlier ones in it. */
  private static boolean isOfBackups(Path dir) {
    return Files.exists(dir.resolve(BackupFolder.SETTINGS));
  }

  private static boolean isHidden(Path path) {
    return path.getFileName().toString().startsWith(".");
  }

  private static HomeFile of(Home home, Path file) throws IOException {
    String path = home.dir().relativize(file).toString();
    boolean isPublic =
        PUBLIC.contains(path)
            || file.startsWith(home.tools())
            || home.keys().equals(file.getParent()) && isShownKey(file);
    return new HomeFile(path, file, !isPublic);
  }

  private static boolean isShownKey(Path file) throws IOException {
    try (var in = Files.newInputStream(file)) {
      String first = new String(in.readNBytes(64), StandardCharsets.US_ASCII);
      return SHOWN_KEYS.stream().anyMatch(first::startsWith);
    }
  }
}
