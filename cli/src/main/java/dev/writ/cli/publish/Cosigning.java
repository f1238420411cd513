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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

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
   * One that is asked.
   *
   * @param keys of which it may have one; what others signed is ignored
   */
  public record Asked(WitnessCaller caller, URI url, List<WitnessKey> keys) {}

  /**
   * Asks all witnesses at once, so that one that stands still keeps no other from being asked, and
   * waits for all of them: that one saw another history outweighs the others.
   *
   * @return of each, in this order, why it did not cosign
   */
  public List<Optional<WritException>> ask(List<Asked> witnesses) {
    List<Future<Checkpoint>> answers;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      answers =
          witnesses.stream()
              .map(one -> threads.submit(() -> one.caller().ask(one.url(), asked)))
              .toList();
    }
    List<Optional<WritException>> reasons = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      reasons.add(take(witnesses.get(i), answers.get(i)));
    }
    return reasons;
  }

  private Optional<WritException> take(Asked one, Future<Checkpoint> ended) {
    try {
      Checkpoint answer = answer(ended);
      boolean isCosigned = false;
      for (WitnessKey key : one.keys()) {
        Optional<Cosignature> own = WitnessCaller.cosignature(one.url(), answer, key);
        isCosigned |= own.isPresent();
        if (own.isPresent() && found.stream().noneMatch(f -> f.by().equals(key))) {
          checkpoint = checkpoint.with(List.of(answer.note().signaturesOf(key).getFirst()));
          found.addAll(Cosignature.of(checkpoint, key).stream().toList());
        }
      }
      return isCosigned ? Optional.empty() : Optional.of(signedByAnother(one));
    } catch (WritException e) {
      refusals.add(e);
      return Optional.of(e);
    }
  }

  /** No refusal, since a key of somebody else is ignored; but whoever named it wants to know. */
  private static WritException signedByAnother(Asked one) {
    return new WritException(
        CliError.WITNESS_UNANSWERED,
        one.url()
            + ": its answer has no cosignature by "
            + String.join(", ", one.keys().stream().map(WitnessKey::toString).toList()));
  }

  private static Checkpoint answer(Future<Checkpoint> ended) {
    if (ended.state() == Future.State.SUCCESS) {
      return ended.resultNow();
    }
    Throwable why = ended.exceptionNow();
    throw why instanceof RuntimeException e ? e : new IllegalStateException(why);
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
