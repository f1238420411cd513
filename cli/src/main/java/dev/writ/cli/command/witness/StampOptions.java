package dev.writ.cli.command.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.verify.stamp.StampAuthorities;
import dev.writ.verify.stamp.Stamps;
import java.util.List;
import java.util.Optional;

/** {@code --stamp} and {@code --tsa-ca} of the commands that verify a bundle. */
public final class StampOptions {
  private StampOptions() {}

  /**
   * @throws WritException {@code CLI-001} for one option without the other, {@code RPL-089} for a
   *     file without certificates
   */
  public static Stamps of(Session session, Arguments arguments) {
    List<String> stamps = arguments.options("--stamp");
    Optional<String> authorities = arguments.option("--tsa-ca");
    if (stamps.isEmpty() == authorities.isPresent()) {
      throw new WritException(CliError.USAGE, "--stamp TSR and --tsa-ca FILE belong together");
    }
    return authorities
        .map(file ->
            new Stamps(
                stamps.stream().map(session::read).toList(),
                StampAuthorities.parse(session.read(file))))
        .orElse(Stamps.NONE);
  }

  /**
   * The same where bundles may have checkpoints of their own: which one was stamped must be said.
   *
   * @throws WritException {@code CLI-001} without a checkpoint, and as {@link #of}
   */
  public static Stamps ofCheckpoint(Session session, Arguments arguments) {
    Stamps stamps = of(session, arguments);
    if (!stamps.replies().isEmpty() && arguments.option("--checkpoint").isEmpty()) {
      throw new WritException(CliError.USAGE, "--stamp is of a --checkpoint: name that too");
    }
    return stamps;
  }
}
