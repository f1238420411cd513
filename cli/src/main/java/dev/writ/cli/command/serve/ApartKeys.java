package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.PeoplesKeys;
import dev.writ.cli.term.AskedLine;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.KeySource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Where the keys of people and agents of a new data directory are made (spec/keys.md, 20). */
final class ApartKeys {
  private ApartKeys() {}

  /**
   * The folder that an option names; else what the person at the terminal says. Without both the
   * keys are made in the home.
   */
  static Optional<KeySource.Apart> of(Session session, Optional<String> named) {
    Optional<Path> folder = named.map(Path::of);
    if (folder.isEmpty() && session.terminal().canAsk() && !session.json()) {
      folder = asked(session);
    }
    if (folder.isEmpty()) {
      return Optional.empty();
    }
    Optional<char[]> passphrase = Optional.ofNullable(Homes.passphrase(session));
    return Optional.of(
        new KeySource.Apart(
            folder.get(),
            passphrase.isPresent()
                ? passphrase
                : session.passphrases().chosen("the keys of operator, policy owner and approver")));
  }

  private static Optional<Path> asked(Session session) {
    Path home = session.home().toAbsolutePath().normalize();
    Path usual = home.resolveSibling(home.getFileName() + ".keys");
    session
        .terminal()
        .err()
        .println(
            "The keys of operator, policy owner, approver and agent are better kept apart from the"
                + " server.");
    String answer;
    try {
      answer =
          AskedLine.line(
              session.terminal(),
              "Folder for them (nothing for " + usual + ", - for the server's): ");
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, "the terminal", e);
    }
    return switch (answer) {
      case "" -> Optional.of(usual);
      case "-" -> Optional.empty();
      default -> Optional.of(Path.of(answer));
    };
  }

  /** What is in the folder of keys of the new home. */
  static String inHome(Optional<Path> apart) {
    return apart.isPresent()
        ? "the server's own keys: guardian, executor, log, " + ServedMcp.KEY
        : "private keys, one for each role";
  }

  /** Where the other keys are, or how they get elsewhere. */
  static List<String> lines(Optional<Path> apart, Home.Names names, Terminal terminal) {
    if (apart.isEmpty()) {
      return List.of(
          "The operator's, policy owner's and approver's keys lie beside the server's. To separate"
              + " them: "
              + PeoplesKeys.move(terminal));
    }
    return List.of(
        "Made " + apart.get(),
        "  operator.pem, policy-owner.pem, " + names.agent() + ".pem, " + names.approver() + ".pem",
        "                commands look there; on another machine: export WRIT_KEYS=FOLDER");
  }
}
