package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.KeyPlaces;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiFunction;

/** {@code writ key}: who may sign what. Every change is a signed event of the system run. */
public final class KeyCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("key", "List, make, enrol, rotate, revoke and move keys.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new Lists(), new Make(), new Enrol(), new KeyRotation(), new Revoke(), new KeyMove());
  }

  record Keys(Trust trust) implements Report {
    @Override
    public JsonValue toJson() {
      return trust.toJson();
    }
  }

  private static void print(Keys keys, Terminal terminal) {
    Table table =
        new Table()
            .column("role", Table.Fit.KEEP)
            .column("tenant", Table.Fit.OMIT)
            .column("subject", Table.Fit.CUT)
            .column("state", Table.Fit.OMIT)
            .column("revoked", Table.Fit.OMIT)
            .column("key id", Table.Fit.KEEP);
    Instant now = Homes.clock().instant();
    for (TrustedKey key : keys.trust().keys().values()) {
      boolean revoked = key.revokedAt().isPresent();
      table.row(
          Table.cell(key.role().text()),
          Table.cell(key.tenant().orElse("–")),
          Table.cell(key.subject()),
          Table.cell(revoked ? "revoked" : "enrolled", revoked ? Style.BAD : Style.GOOD),
          key.revokedAt().map(at -> Table.time(at, now)).orElse(Table.none()),
          Table.cell(key.kid(), Style.DIM));
    }
    terminal.print(table);
  }

  /** Writes the file of public keys again, for verifiers; the ledger's record is authoritative. */
  private static void export(Home home, Trust trust) {
    try {
      DurableFiles.REAL.replace(home.trustFile(), Jcs.write(trust.toJson()));
    } catch (IOException e) {
      throw new WritException(
          EmbedError.FILE_UNWRITABLE,
          home.trustFile() + "; the keys are changed all the same: writ key list",
          e);
    }
  }

  /**
   * The same where others may do so at once: who wrote what is older by now writes again, so that
   * the last one's is what is in force.
   */
  private static Trust export(Session session, Home home) {
    Trust written;
    do {
      written = trust(session);
      export(home, written);
    } while (!trust(session).equals(written));
    return written;
  }

  /** Applies a signed change of keys, and writes the file of public keys again. */
  public static void change(OpenHome open, Envelope signed) {
    open.kernel().change(signed);
    export(open.home(), open.kernel().system().trust());
  }

  /** A change of keys, signed by an operator. */
  public static Envelope signed(
      SigningKey operator, String kind, JsonValue.Obj detail, Instant at) {
    return Envelope.sign(SystemChange.TYPE, new SystemChange(kind, detail, at).toJson(), operator);
  }

  /** Signs a change of keys as the operator, and applies it wherever the home is open. */
  static Keys change(
      Session session,
      Arguments arguments,
      String kind,
      BiFunction<Trust, Instant, JsonValue.Obj> detail) {
    return change(session, arguments, kind, detail, Beside.NOTHING);
  }

  /**
   * What is done beside a change.
   *
   * @param signed where the home can be changed and the change is signed
   * @param made as soon as it is known to be in the log, whatever fails behind that
   */
  private record Beside(Runnable signed, Runnable made) {
    static final Beside NOTHING = new Beside(() -> {}, () -> {});
  }

  private static Keys change(
      Session session,
      Arguments arguments,
      String kind,
      BiFunction<Trust, Instant, JsonValue.Obj> detail,
      Beside beside) {
    session.meansSystem();
    SigningKey operator = SystemWords.operator(Homes.home(session), arguments);
    Trust trust =
        Homes.write(
            session,
            open -> {
              Instant now = open.kernel().now();
              JsonValue.Obj what = detail.apply(open.kernel().system().trust(), now);
              Envelope signed = signed(operator, kind, what, now);
              beside.signed().run();
              open.kernel().change(signed);
              beside.made().run();
              export(open.home(), open.kernel().system().trust());
              return open.kernel().system().trust();
            },
            server -> {
              Instant now = Timestamps.truncate(Homes.clock().instant());
              JsonValue.Obj what = detail.apply(trust(session), now);
              Envelope signed = signed(operator, kind, what, now);
              beside.signed().run();
              server.post(SystemWords.CHANGES, signed);
              beside.made().run();
              return export(session, server.home());
            });
    return new Keys(trust);
  }

  static Trust trust(Session session) {
    return Homes.inForce(session).trust();
  }

  /** {@code writ key list}. */
  static final class Lists implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("list", "List the enrolled keys, revoked ones too.").list();
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Keys keys = new Keys(trust(session));
      session.show(keys, KeyCommand::print);
      return ExitCode.OK;
    }
  }

  /** {@code writ key new}. */
  static final class Make implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.signer(
          CommandUsage.of(
                  "new",
                  "Make a key and enrol it: NAME.pem, encrypted where WRIT_PASSPHRASE is set, in"
                      + " keys/ or where keys of people and agents are kept.",
                  "Policy must name its holder before it can do anything.")
              .argument("NAME", "The file's name; also the holder's.")
              .option("--subject", "NAME", "The holder, where the file is to have another name.")
              .option(
                  "--role",
                  "ROLE",
                  "agent, approver, principal, attestor, surface, … (default: agent).")
              .option(
                  "--tenant",
                  "NAME",
                  "The tenant (default: the home's; none for keys of the installation).")
              .flag(
                  "--installation",
                  "A key of the installation, not of a tenant: for approvers" + " of tools.")
              .option("--key", "KEY", OutsideKey.OPTION)
              .option("--algorithm", "NAME", MadeKey.OPTION)
              .example("key new builder")
              .example("key new surface-tools --role surface --subject tools"));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String name = arguments.argument("NAME");
      Home home = Homes.home(session);
      KeyRole role = roleOf(arguments.option("--role").orElse("agent"));
      if (!KeyPlaces.isName(name)) {
        throw new WritException(EmbedError.KEY_NAME, "\"" + name + "\"");
      }
      SecureRandom random = new SecureRandom();
      MadeKey.requireOneOf(arguments);
      Optional<SigningKey> agents = OutsideKey.of(home, arguments);
      SigningKey key = agents.orElseGet(() -> MadeKey.of(arguments, random));
      Path file = home.keyPlaces().fileOfNew(name, role);
      boolean[] isUnused = {false};
      try {
        session.show(
            change(
                session,
                arguments,
                EventKind.KEY_ENROLLED,
                (_, now) ->
                    new TrustedKey(
                            key.verifyingKey(),
                            role,
                            tenant(home, role, arguments),
                            arguments.option("--subject").orElse(name),
                            now,
                            Optional.empty(),
                            Optional.empty())
                        .toJson(),
                new Beside(
                    () -> {
                      if (agents.isPresent()) {
                        KeyFiles.writePublicHalf(file, key.verifyingKey());
                      } else {
                        KeyFiles.write(file, key, Homes.passphrase(session), random);
                      }
                      isUnused[0] = true;
                    },
                    () -> isUnused[0] = false)),
            KeyCommand::print);
      } catch (WritException e) {
        if (isUnused[0] && isRefusal(e)) {
          removeUnused(file);
        }
        throw e;
      }
      return ExitCode.OK;
    }

    /**
     * Whether the change was certainly not made. Any other failure may have come behind its commit,
     * and then the file has the only copy of an enrolled key.
     */
    private static boolean isRefusal(WritException e) {
      return e.code().code().startsWith("CAN-") || e.code().code().startsWith("EXE-");
    }

    /** So that the same command can be given again. */
    private static void removeUnused(Path file) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
      }
    }

    private static Optional<String> tenant(Home home, KeyRole role, Arguments arguments) {
      boolean ofTenant =
          !arguments.has("--installation")
              && List.of(
                      KeyRole.AGENT,
                      KeyRole.SURFACE,
                      KeyRole.PRINCIPAL,
                      KeyRole.APPROVER,
                      KeyRole.ATTESTOR)
                  .contains(role);
      Optional<String> named = arguments.option("--tenant");
      return named.isPresent() || !ofTenant ? named : Optional.of(home.tenant());
    }
  }

  private static KeyRole roleOf(String text) {
    return KeyRole.ALL.stream()
        .filter(r -> r.text().equals(text.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                CliError.USAGE,
                text + " is none of " + KeyRole.ALL.stream().map(KeyRole::text).toList()));
  }

  /** {@code writ key enrol}. */
  static final class Enrol implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          SystemWords.signer(
              CommandUsage.of(
                      "enrol",
                      "Enrol a public key whose secret half somebody else keeps: an approver's"
                          + " browser, for example.",
                      "Compare the key id with its holder before you do. Policy must name the"
                          + " holder before the key can do anything.")
                  .argument("JWK", "The public key as JSON, or a file that has it; - for stdin.")
                  .option("--subject", "NAME", "Its holder; required.")
                  .option(
                      "--role", "ROLE", "approver, operator, policy-owner, … (default: approver).")
                  .option(
                      "--tenant",
                      "NAME",
                      "The tenant (default: the home's; none for operators and policy owners).")));
    }

    record Enrolled(TrustedKey key) implements Report {
      @Override
      public JsonValue toJson() {
        return key.toJson();
      }

      String says() {
        return key.role().text()
            + " "
            + Text.printable(key.subject())
            + key.tenant().map(t -> " of " + Text.printable(t)).orElse("")
            + " may sign with "
            + key.kid();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      KeyRole role = roleOf(arguments.option("--role").orElse("approver"));
      boolean ofTenant = role != KeyRole.OPERATOR && role != KeyRole.POLICY_OWNER;
      Optional<String> tenant = arguments.option("--tenant");
      TrustedKey key =
          new TrustedKey(
              publicKey(session, arguments.argument("JWK")),
              role,
              tenant.isPresent() || !ofTenant ? tenant : Optional.of(home.tenant()),
              arguments
                  .option("--subject")
                  .orElseThrow(
                      () -> new WritException(CliError.USAGE, "key enrol needs --subject")),
              Homes.clock().instant(),
              Optional.empty(),
              Optional.empty());
      SystemWords.send(
          session,
          arguments,
          List.of(SystemWords.change(home, arguments, EventKind.KEY_ENROLLED, key.toJson())));
      if (arguments.option("--server").isEmpty()) {
        export(session, home);
      }
      session.show(
          new Enrolled(key), (enrolled, terminal) -> terminal.out().println(enrolled.says()));
      return ExitCode.OK;
    }

    /** Only the public half is taken: a JWK with a private member is refused by its reader. */
    private static VerifyingKey publicKey(Session session, String jwk) {
      byte[] bytes = jwk.startsWith("{") ? jwk.getBytes(StandardCharsets.UTF_8) : session.read(jwk);
      try {
        return VerifyingKey.fromJwk(Jcs.parse(bytes));
      } catch (WritException e) {
        throw jwk.startsWith("{")
            ? e
            : new WritException(e.code(), jwk + ", which should be a public JWK: " + e.found(), e);
      }
    }
  }

  /** {@code writ key revoke}. */
  static final class Revoke implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.signer(
          CommandUsage.of(
                  "revoke",
                  "Revoke a key: it can sign nothing from now on; documents that are in the log"
                      + " before still verify.")
              .argument("NAME|KEY-ID", "A key file's name, or a key id.")
              .flag("--last", "Also the last operator's: nothing can be changed any more then."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String key = arguments.argument("NAME|KEY-ID");
      Home home = Homes.home(session);
      session.show(
          change(
              session,
              arguments,
              EventKind.KEY_REVOKED,
              (trust, now) -> {
                String kid =
                    trust.key(key).map(TrustedKey::kid).orElseGet(() -> home.key(key).kid());
                if (!arguments.has("--last")) {
                  requireAnotherOperator(trust, kid, now);
                }
                return JsonValue.object().put("kid", kid).build();
              }),
          KeyCommand::print);
      return ExitCode.OK;
    }

    /**
     * Keys are enrolled by operators alone, so there would never be one again. One of a tenant
     * signs nothing in the system run.
     */
    private static void requireAnotherOperator(Trust trust, String kid, Instant now) {
      List<String> operators =
          trust.keys().values().stream()
              .filter(k -> k.role() == KeyRole.OPERATOR && k.tenant().isEmpty())
              .filter(k -> k.revokedAt().isEmpty() && k.isValidAt(now))
              .map(TrustedKey::kid)
              .toList();
      if (operators.equals(List.of(kid))) {
        throw new WritException(CliError.LAST_OPERATOR, "key " + kid);
      }
    }
  }
}
