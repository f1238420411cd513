package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Homes;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The keys in a server's home with which whoever takes it over could change the installation: those
 * of operators, policy owners and approvers. Told by the names of files, since encrypted ones
 * cannot be looked into.
 */
public final class PeoplesKeys {
  private static final List<KeyRole> ROLES =
      List.of(KeyRole.OPERATOR, KeyRole.POLICY_OWNER, KeyRole.APPROVER);

  private PeoplesKeys() {}

  /** Names of the files that are there, each of which is the name of a holder in the log. */
  public static List<String> in(Home home, Trust trust) {
    if (!Files.isDirectory(home.keys())) {
      return List.of();
    }
    return home.keyNames().stream()
        .filter(name -> isPeoples(name, trust) && hasSecret(home.keyFile(name)))
        .toList();
  }

  /** Whether it may be more than the public half of a key that an agent has. */
  private static boolean hasSecret(Path file) {
    try {
      return KeyFiles.publicHalf(file).isEmpty();
    } catch (WritException e) {
      return true;
    }
  }

  private static boolean isPeoples(String name, Trust trust) {
    return trust.keys().values().stream()
        .anyMatch(key ->
            key.subject().equals(name) && key.revokedAt().isEmpty() && ROLES.contains(key.role()));
  }

  /** What to say of them, with a remedy; empty where there are none. */
  public static Optional<String> finding(Home home, Trust trust, Terminal terminal) {
    List<String> found = in(home, trust);
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "whoever takes over the server has the keys "
                + String.join(", ", found)
                + ": "
                + move(terminal));
  }

  /** The command that moves them out of the home. */
  public static String move(Terminal terminal) {
    return Homes.name(terminal) + " key move FOLDER";
  }
}
