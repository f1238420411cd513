package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Deletes contents together with the signed statement of it, in one write. The appender's thread
 * decides: where anything has come to need one of them since they were chosen (it is pinned, being
 * written, uploaded, or mentioned by a document), nothing is written, and {@link #needed} names it.
 *
 * <p>A crash leaves either everything as it was, or the statement and no row; a file without a row
 * is removed by the next opening.
 */
final class ContentDeletion implements StorageStep {
  private final Storage store;
  private final Blobs blobs;
  private final Uploads uploads;
  private final List<Ledger.Removal> removals;
  private final Instant claimedBefore;
  private final Batch statement;
  private final Consumer<Batch> placing;
  private final Mentions mentions;
  private final TreeSet<Digest> needed = new TreeSet<>();
  private final TreeSet<String> claims = new TreeSet<>();
  private final List<Blobs.At> removed = new ArrayList<>();
  private Optional<WritException> refused = Optional.empty();

  /**
   * @param claimedBefore a tenant's upload that was put later keeps its content
   * @param placing takes the statement's events as the next ones of their run
   */
  ContentDeletion(
      Storage store,
      Blobs blobs,
      Uploads uploads,
      Collection<Ledger.Removal> removals,
      Instant claimedBefore,
      Batch statement,
      Consumer<Batch> placing) {
    this.store = store;
    this.blobs = blobs;
    this.uploads = uploads;
    this.removals = List.copyOf(removals);
    this.claimedBefore = claimedBefore;
    this.statement = statement;
    this.placing = placing;
    this.mentions = Mentions.ofContents(removals.stream().map(Ledger.Removal::content).toList());
  }

  Mentions mentions() {
    return mentions;
  }

  /** Searches an event that was written after the contents were chosen. */
  void look(Event event, Optional<byte[]> document) {
    uploads.exclusively(() -> {
      mentions.look(event.body().toString().getBytes(StandardCharsets.US_ASCII));
      document.ifPresent(mentions::look);
    });
  }

  /** Runs in the appender's thread with uploads locked; false where nothing may be written. */
  boolean decide() {
    for (Ledger.Removal removal : removals) {
      Digest content = removal.content();
      boolean isClaimed = removal.tenant().isEmpty() ? isClaimed(content) : isOthers(removal);
      if (isClaimed
          || mentions.keepsContent(content.hex())
          || uploads.isPinned(content.hex())
          || blobs.isHeld(content)) {
        needed.add(content);
      }
    }
    if (!needed.isEmpty()) {
      return false;
    }
    try {
      placing.accept(statement);
      return true;
    } catch (WritException e) {
      refused = Optional.of(e); // of this deletion alone: the ledger goes on
      return false;
    }
  }

  private boolean isClaimed(Digest content) {
    boolean isClaimed = false;
    for (String claim : uploads.ofContent(content.hex())) {
      isClaimed |= !uploads.claim(claim).at().isBefore(claimedBefore);
      claims.add(claim);
    }
    return isClaimed;
  }

  /** A sealed copy is its owner's alone; what is in the clear is everybody's who uploaded it. */
  private boolean isOthers(Ledger.Removal removal) {
    Digest content = removal.content();
    boolean isPlain = blobs.hasPlain(content);
    List<String> all = uploads.ofContent(content.hex());
    if ((removal.plain() || !isPlain) && blobs.copies(content).stream().allMatch(removal::takes)) {
      claims.addAll(all); // nothing is left of it
    }
    return removal.plain()
        && isPlain
        && all.stream()
            .anyMatch(claim ->
                !removal.tenant().get().equals(Uploads.tenant(claim))
                    || uploads.claim(claim).at().isAfter(claimedBefore));
  }

  Batch statement() {
    return statement;
  }

  void remove(Write write) {
    for (String claim : claims) {
      write.delete(Family.TABLES, Keys.table(Uploads.TABLE, claim));
    }
    for (Ledger.Removal removal : removals) {
      for (SealedCopy copy : blobs.copies(removal.content())) {
        if (removal.takes(copy)) {
          write.delete(Family.TABLES, Keys.table(SealedCopy.TABLE, copy.key()));
          remove(write, copy.stored());
        }
      }
      if (removal.plain()) {
        remove(write, removal.content());
      }
    }
  }

  private void remove(Write write, Digest stored) {
    blobs.at(stored).ifPresent(removed::add);
    write.delete(Family.BLOBS, stored.bytes());
    write.delete(Family.FILES, stored.bytes());
  }

  /** Called when the removal is durable. */
  void done() {
    claims.forEach(uploads::remove);
    blobs.removeAtOnce(removed);
  }

  /** Called after that in the thread of who waits, since it may take long. */
  void removeContents() {
    blobs.removeLater(removed);
  }

  /**
   * The contents that something needs; nothing was deleted unless there are none.
   *
   * @throws WritException where the statement does not continue its run
   */
  SortedSet<Digest> needed() {
    refused.ifPresent(e -> {
      throw new WritException(e.code(), e.found(), e);
    });
    return Collections.unmodifiableSortedSet(needed);
  }
}
