package dev.writ.cli.hook;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Optional;

/**
 * Where a path leads as the system walks it: part by part, so that {@code ..} is the parent of what
 * a link leads to, and through links to what does not exist yet, which a write would make.
 */
final class LinkWalk {
  /** As many as Linux follows. */
  private static final int LINKS_MAX = 40;

  /** Its links lead each process somewhere else. */
  private static final Path PROCESSES = Path.of("/proc");

  private final ArrayDeque<Path> ahead = new ArrayDeque<>();
  private Path at;
  private int links;

  private LinkWalk(Path path) {
    at = path.getRoot();
    path.forEach(ahead::add);
  }

  /**
   * @param path absolute
   * @return empty where nobody can say: too many links, or one that cannot be read
   */
  static Optional<Path> end(Path path) {
    try {
      return new LinkWalk(path).walk();
    } catch (IOException _) {
      return Optional.empty();
    }
  }

  private Optional<Path> walk() throws IOException {
    while (!ahead.isEmpty()) {
      Path next = at.resolve(ahead.pop()).normalize(); // at has no link: .. is its parent
      if (!isLink(next)) {
        at = next;
      } else if (++links > LINKS_MAX || next.startsWith(PROCESSES)) {
        return Optional.empty();
      } else {
        follow(Files.readSymbolicLink(next));
      }
    }
    return Optional.of(at);
  }

  private void follow(Path target) {
    if (target.isAbsolute()) {
      at = target.getRoot();
    }
    for (int i = target.getNameCount() - 1; i >= 0; i--) {
      ahead.push(target.getName(i));
    }
  }

  private static boolean isLink(Path path) throws IOException {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .isSymbolicLink();
    } catch (NoSuchFileException _) {
      return false;
    }
  }
}
