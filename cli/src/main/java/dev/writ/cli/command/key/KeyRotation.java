package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** {@code writ key rotate}: another key for the guardian, the executor or the log. */
final class KeyRotation implements CliCommand {
  private static final long OVERLAP_MAX_S = 86_400;

  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        CommandUsage.of(
                "rotate",
                "Make and enrol another key for the kernel, and have it sign with that from now on,"
                    + " also while a server runs. Where the file of the key was lost, this is the"
                    + " way out.",
                "The old key is still believed until it is revoked. Do that when nothing that it"
                    + " signed is under way: intents live for at most five minutes.")
            .argument("ROLE", "guardian, executor or log.")
            .option("--key", "KEY", OutsideKey.OPTION + " Not for the log.")
            .option("--algorithm", "NAME", MadeKey.OPTION + " Not for the log.")
            .option("--overlap", "SECONDS", "Wait this long, then revoke the old keys.")
            .example("key rotate guardian")
            .example("key rotate executor --overlap 300"));
  }

  /**
   * What was done.
   *
   * @param before ids of the keys of that role that were believed before
   * @param waits the file of the new key where no kernel of this home signs with it yet
   */
  record Rotated(
      KeyRole role, String kid, List<String> before, boolean revoked, Optional<Path> waits)
      implements Report {
    Rotated {
      before = List.copyOf(before);
    }

    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList("before", before, JsonValue::of)
          .put("key", kid)
          .put("revoked", revoked)
          .put("role", role.text())
          .putIfPresent("waits", waits, file -> JsonValue.of(file.toString()))
          .build();
    }

    String says() {
      StringBuilder text = new StringBuilder(role.text());
      text.append(waits.isEmpty() ? " signs with " + kid : ": " + kid + " is enrolled");
      waits.ifPresent(file ->
          text.append(" and waits in ")
              .append(file)
              .append(": the log is another gateway's, which signs with its own key, or the server")
              .append(" here could not take this one (its passphrase, its agent): writ doctor"));
      for (String old : before) {
        text.append('\n')
            .append(revoked ? "revoked: " + old : "still believed: writ key revoke " + old);
      }
      return text.toString();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    KeyRole role = role(arguments.argument("ROLE"));
    requireHere(home, role);
    Optional<Long> overlap = arguments.integer("--overlap", 0, OVERLAP_MAX_S);
    MadeKey.requireOneOf(arguments);
    if (MadeKey.algorithm(arguments) != Algorithm.ED25519 && role == KeyRole.LOG) {
      throw new WritException(CliError.USAGE, "the log's key is Ed25519 (spec/log.md)");
    }
    Optional<SigningKey> agents = OutsideKey.of(home, arguments);
    if (agents.isPresent() && role == KeyRole.LOG) {
      throw new WritException(CliError.USAGE, "the log's key is in a file (spec/keys.md, 33)");
    }
    if (!Files.exists(home.keyFile(role.text()))) {
      next(session, arguments, home, role, agents); // the kernel opens with this one
    }
    List<String> before = believed(KeyCommand.trust(session), role);
    SigningKey[] key = {null};
    KeyCommand.change(
        session,
        arguments,
        EventKind.KEY_ENROLLED,
        (trust, now) -> {
          key[0] = next(session, arguments, home, role, agents);
          return enrolment(trust, role, key[0], now).toJson();
        });
    Path waiting = home.nextKeyFile(role.text());
    Optional<Path> waits = Files.exists(waiting) ? Optional.of(waiting) : Optional.empty();
    if (overlap.isPresent() && waits.isEmpty()) {
      pause(overlap.get());
      before.forEach(old ->
          KeyCommand.change(
              session,
              arguments,
              EventKind.KEY_REVOKED,
              (_, _) -> JsonValue.object().put("kid", old).build()));
    }
    session.show(
        new Rotated(role, key[0].kid(), before, overlap.isPresent() && waits.isEmpty(), waits),
        (rotated, terminal) -> terminal.out().println(rotated.says()));
    return ExitCode.OK;
  }

  /** An executor apart has its key over there, and its home takes what its guardian states. */
  private static void requireHere(Home home, KeyRole role) {
    if (GuardianCard.isIn(home)) {
      throw new WritException(
          ExecutorError.NOT_APART, home.dir() + " is an executor's home, whose keys stay");
    }
    if (role == KeyRole.EXECUTOR && ExecutorCard.elsewhere(home).isPresent()) {
      throw new WritException(
          ExecutorError.NOT_APART, "the executor of " + home.dir() + " is elsewhere, with its key");
    }
  }

  private static KeyRole role(String text) {
    return RotatedKeys.ROLES.stream()
        .filter(role -> role.text().equals(text))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                CliError.USAGE,
                text + " is none of " + RotatedKeys.ROLES.stream().map(KeyRole::text).toList()));
  }

  /** The key that waits: one that an earlier call left, or a new one. */
  private static SigningKey next(
      Session session, Arguments arguments, Home home, KeyRole role, Optional<SigningKey> agents) {
    Path file = home.nextKeyFile(role.text());
    if (!Files.exists(file)) {
      SecureRandom random = new SecureRandom();
      if (agents.isPresent()) {
        KeyFiles.writePublicHalf(file, agents.get().verifyingKey());
      } else {
        KeyFiles.write(file, MadeKey.of(arguments, random), Homes.passphrase(session), random);
      }
    }
    SigningKey waits = home.key(file.toString());
    boolean isAnother = agents.filter(key -> !key.kid().equals(waits.kid())).isPresent();
    boolean isOfAnother =
        arguments.option(MadeKey.NAME).isPresent()
            && waits.algorithm() != MadeKey.algorithm(arguments);
    if (isAnother || isOfAnother) {
      throw new WritException(
          CliError.USAGE,
          "another key waits in "
              + file
              + ": rotate without --key and "
              + MadeKey.NAME
              + ", then again");
    }
    return waits;
  }

  private static List<String> believed(Trust trust, KeyRole role) {
    return trust.keys().values().stream()
        .filter(key -> key.role() == role && key.revokedAt().isEmpty())
        .map(TrustedKey::kid)
        .toList();
  }

  /** Held by whoever held the one before. */
  private static TrustedKey enrolment(Trust trust, KeyRole role, SigningKey key, Instant now) {
    String holder =
        trust.keys().values().stream()
            .filter(k -> k.role() == role)
            .map(TrustedKey::subject)
            .findFirst()
            .orElse(role.text());
    return new TrustedKey(
        key.verifyingKey(),
        role,
        Optional.empty(),
        holder,
        now,
        Optional.empty(),
        Optional.empty());
  }

  private static void pause(long seconds) {
    try {
      Thread.sleep(seconds * 1000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
