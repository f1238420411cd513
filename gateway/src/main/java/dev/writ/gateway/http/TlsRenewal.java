package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Takes up files of TLS that are replaced while a server runs: whoever renews certificates tells
 * nobody. What two looks in a row found the same is taken up: one between them may find a new
 * certificate beside the old key, or half of a file.
 */
public final class TlsRenewal {
  /** So often somebody is to {@link #look}. */
  public static final Duration EVERY = Duration.ofSeconds(30);

  private final Listen.Protection.Tls files;
  private final Supplier<Optional<TlsContents>> inForce;
  private final Function<TlsContents, Instant> take;
  private final Told told;
  private Optional<Found> latest = Optional.empty();
  private Optional<Found> complained = Optional.empty();

  /** Hears of it. */
  public interface Told {
    /** Others are in force now; in words for people. */
    void renewed(String detail);

    /** The files cannot be used, and those before stay in force; once for the same contents. */
    void refused(WritException why);
  }

  /** Contents, or why there are none. */
  private record Found(Optional<TlsContents> contents, String why) {}

  /**
   * @param inForce those that were taken up last, also by somebody else
   * @param take puts them in force and says when their certificate ends, or throws {@code GWY-007}
   *     and changes nothing
   */
  public TlsRenewal(
      Listen.Protection.Tls files,
      Supplier<Optional<TlsContents>> inForce,
      Function<TlsContents, Instant> take,
      Told told) {
    this.files = files;
    this.inForce = inForce;
    this.take = take;
    this.told = told;
  }

  /** Looks at the files, and takes them up if they are others than before. */
  public synchronized void look() {
    Found found = found();
    boolean isSettled = latest.filter(found::equals).isPresent();
    latest = Optional.of(found);
    if (!isSettled) {
      return;
    }
    if (found.contents().isPresent() && found.contents().equals(inForce.get())) {
      complained = Optional.empty();
      return;
    }
    try {
      // Read again where it could not be, which says why.
      Instant ends = take.apply(found.contents().orElseGet(() -> TlsContents.read(files)));
      complained = Optional.empty();
      told.renewed(files.certificate() + ", until " + ends);
    } catch (WritException e) {
      if (complained.filter(found::equals).isEmpty()) {
        complained = latest;
        told.refused(e);
      }
    }
  }

  private Found found() {
    try {
      return new Found(Optional.of(TlsContents.read(files)), "");
    } catch (WritException e) {
      return new Found(Optional.empty(), String.valueOf(e.getMessage()));
    }
  }
}
