package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A checkpoint, with the cosignatures that witnesses gave it so far, and why others did not. */
public final class Cosigning {
  private final Checkpoint asked;
  private final List<Cosignature> found = new ArrayList<>();
  private final List<WritException> refusals = new ArrayList<>();
  private Checkpoint checkpoint;

  public Cosigning(Checkpoint checkpoint) {
    this.asked = checkpoint;
    this.checkpoint = checkpoint;
  }

  /**
   * Asks a witness, whatever the others said.
   *
   * @param keys of which it may have one; what others signed is ignored
   * @return why it did not cosign, if it gave a reason
   */
  public Optional<WritException> ask(WitnessCaller caller, URI url, List<WitnessKey> keys) {
    try {
      Checkpoint answer = caller.ask(url, asked);
      for (WitnessKey key : keys) {
        Optional<Cosignature> own = WitnessCaller.cosignature(url, answer, key);
        if (own.isPresent() && found.stream().noneMatch(f -> f.by().equals(key))) {
          checkpoint = checkpoint.with(List.of(answer.note().signaturesOf(key).getFirst()));
          found.addAll(Cosignature.of(checkpoint, key).stream().toList());
        }
      }
      return Optional.empty();
    } catch (WritException e) {
      refusals.add(e);
      return Optional.of(e);
    }
  }

  /** With all cosignatures. */
  public Checkpoint checkpoint() {
    return checkpoint;
  }

  public List<Cosignature> by() {
    return List.copyOf(found);
  }

  public List<WritException> refusals() {
    return List.copyOf(refusals);
  }

  /**
   * Requires so many witnesses; one key under two names is one. That one saw another history
   * outweighs the others.
   *
   * @throws WritException {@code CLI-101}, {@code CLI-100}, or what the only one that refused said
   */
  public void require(long quorum) {
    refusals.stream()
        .filter(e -> e.code() == CliError.WITNESS_FORK)
        .findFirst()
        .ifPresent(e -> {
          throw e;
        });
    if (found.stream().map(c -> c.by().key()).distinct().count() < quorum) {
      throw refusals.size() == 1
          ? refusals.getFirst()
          : new WritException(
              CliError.WITNESSES_FEW,
              found.size()
                  + " of "
                  + quorum
                  + refusals.stream().map(e -> "; " + e.code().code() + " " + e.found()).toList());
    }
  }
}
