package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.replay.peer.PeerKeys;
import dev.writ.replay.peer.PeerVerification;

/** {@code writ verify-peer}: needs no data directory. */
public final class VerifyPeerCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "verify-peer",
            "Verify a chain of signed receipts that another system wrote, and say what it proves"
                + " and what it does not. No data directory, no network.",
            "Known are the receipts of the HELM AI Kernel (receipt.v5) and of the Agent Governance"
                + " Toolkit (mcp-receipt-governed).")
        .argument("FILE", "The receipts, as the other system exports them.")
        .options(
            "--key",
            "HEX",
            "A key that may have signed, 64 hexadecimal digits, which you obtained from elsewhere."
                + " Without one the exit status says that nobody is known to have signed.")
        .option(
            "--last",
            "HASH",
            "The digest of the last receipt, which you obtained from elsewhere: without it or"
                + " --count nobody can say whether receipts are missing at the end.")
        .option("--count", "N", "How many receipts there are, if you know it from elsewhere.")
        .example("verify-peer receipts.json --key 3b6a27bc… --count 12");
  }

  /** A verification as the command's report. */
  record Seen(PeerVerification verification) implements Report {
    @Override
    public JsonValue toJson() {
      return verification.toJson();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    PeerVerification verification =
        PeerVerification.of(
            session.read(arguments.argument("FILE")),
            new PeerVerification.Options(
                arguments.options("--key").stream().map(VerifyPeerCommand::key).toList(),
                arguments.option("--last").map(VerifyPeerCommand::digest),
                arguments.integer("--count", 0, Integer.MAX_VALUE)));
    session.show(new Seen(verification), VerifyPeerCommand::print);
    if (!verification.holds()) {
      return ExitCode.BROKEN_INPUT;
    }
    return verification.pinned() && verification.whole() ? ExitCode.OK : ExitCode.INTEGRITY_ONLY;
  }

  private static VerifyingKey key(String text) {
    return PeerKeys.parse(text)
        .orElseThrow(() ->
            new WritException(
                CliError.USAGE, "--key must be an Ed25519 key in 64 hexadecimal digits"));
  }

  private static String digest(String text) {
    String hex = text.startsWith("sha256:") ? text.substring("sha256:".length()) : text;
    if (!hex.matches("[0-9a-f]{64}")) {
      throw new WritException(CliError.USAGE, "--last must be 64 hexadecimal digits in lower case");
    }
    return hex;
  }

  private static void print(Seen shown, Terminal terminal) {
    PeerVerification seen = shown.verification();
    VerificationLines.print(seen.verified(), seen.notVerified(), seen.failure(), terminal);
    if (seen.holds()) {
      terminal.out().println(verdict(seen));
    }
  }

  private static String verdict(PeerVerification seen) {
    if (!seen.pinned()) {
      return "consistent only; signer not pinned";
    }
    return seen.whole()
        ? "verified: all of the chain"
        : "verified, but not known to be all of the chain";
  }
}
