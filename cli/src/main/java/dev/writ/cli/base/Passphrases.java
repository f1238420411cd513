package dev.writ.cli.base;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.AskedLine;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.KeyPassphrase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The passphrases of key files: WRIT_PASSPHRASE for all of them, else what the person at the
 * terminal says, who is asked once for each file.
 */
public final class Passphrases implements KeyPassphrase {
  private final Session session;
  private final Map<Path, char[]> told = new TreeMap<>();

  Passphrases(Session session) {
    this.session = session;
  }

  @Override
  public synchronized char[] of(Path file) {
    char[] common = Homes.passphrase(session);
    if (common != null || !session.terminal().canAsk()) {
      return common;
    }
    return told.computeIfAbsent(file, _ -> ask("Passphrase of " + file + ": ").orElse(null));
  }

  /**
   * A new passphrase, typed twice.
   *
   * @return empty where none is wanted, or there is nobody to ask
   * @throws WritException {@code CLI-001} where the two differ
   */
  public Optional<char[]> chosen(String keys) {
    Terminal terminal = session.terminal();
    if (!terminal.canAsk()) {
      return Optional.empty();
    }
    Optional<char[]> first = ask("Passphrase for " + keys + " (nothing for none): ");
    if (first.isEmpty() || first.get().length == 0) {
      return Optional.empty();
    }
    Optional<char[]> second = ask("Once more: ");
    if (second.isEmpty() || !Arrays.equals(first.get(), second.get())) {
      throw new WritException(CliError.USAGE, "the two passphrases differ");
    }
    return first;
  }

  @Override
  public synchronized char[] pin(String token) {
    return session.terminal().canAsk()
        ? ask("PIN of the token " + token + ": ").orElse(null)
        : null;
  }

  private Optional<char[]> ask(String question) {
    try {
      return AskedLine.secret(session.terminal(), question);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, "the terminal", e);
    }
  }
}
