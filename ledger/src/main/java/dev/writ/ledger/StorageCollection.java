package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Removes uploads that no document names and whose lifetime is over. First every stored document is
 * searched for mentions, and documents that are written meanwhile are searched, too. Then the
 * appender's thread decides and removes in one step of its own in the order of commits: uploads
 * that are pinned, were uploaded again, are being written, or have been mentioned by then stay.
 *
 * <p>A crash leaves either the rows, or a file that no row names, which the next opening removes.
 */
final class StorageCollection implements StorageStep {
  /**
   * The result of a collection.
   *
   * @param claims claims of tenants, who can no longer read these blobs
   * @param blobs whose content is gone
   * @param bytes of that content
   */
  record Found(List<String> claims, List<Digest> blobs, long bytes) {}

  private final Storage store;
  private final Blobs blobs;
  private final Uploads uploads;
  private final Mentions mentions;
  private final List<String> candidates;
  private final Instant before;
  private final List<String> references;
  private final List<String> named = new ArrayList<>();
  private final List<String> gone = new ArrayList<>();
  private final List<Digest> removed = new ArrayList<>();
  private final List<Blobs.At> places = new ArrayList<>();
  private long bytes;

  /**
   * @param candidates keys of {@link Uploads}
   * @param references the tables whose rows let a tenant read a blob: tenant, digest, and what else
   */
  StorageCollection(
      Storage store,
      Blobs blobs,
      Uploads uploads,
      List<String> candidates,
      Instant before,
      List<String> references) {
    this.store = store;
    this.blobs = blobs;
    this.uploads = uploads;
    this.candidates = candidates;
    this.before = before;
    this.references = references;
    this.mentions = new Mentions(candidates);
  }

  Mentions mentions() {
    return mentions;
  }

  /**
   * Searches all stored documents. Those that are written from now on are searched by the appender.
   */
  void mark() {
    store.scan(
        Family.DOCUMENTS,
        new byte[0],
        new byte[0],
        (key, row) -> {
          byte[] payload = StoredForm.document(Digest.ofBytes(key), row).payload();
          uploads.exclusively(() -> mentions.look(payload));
          return true;
        });
    for (String name : references) {
      byte[] table = Keys.table(name, "");
      store.scan(
          Family.TABLES,
          table,
          table,
          (key, _) -> {
            reference(
                new String(key, table.length, key.length - table.length, StandardCharsets.UTF_8));
            return true;
          });
    }
  }

  /** Content that a tenant may read without having uploaded it is kept. */
  private void reference(String key) {
    int hexAt = key.indexOf(Keys.SEPARATOR) + 1;
    int end = hexAt + 2 * Digest.LENGTH;
    if (hexAt == 0 || key.length() < end) {
      return;
    }
    String hex = key.substring(hexAt, end);
    if (!mentions.looksFor(hex)) {
      return;
    }
    String tenant = key.substring(0, hexAt - 1);
    uploads.exclusively(() -> {
      boolean isUploader =
          uploads.ofContent(hex).stream().map(Uploads::tenant).anyMatch(tenant::equals);
      if (!isUploader) {
        mentions.keepContent(hex);
      }
    });
  }

  /** Runs in the appender's thread with uploads locked; nothing else is in this write. */
  void decide(Write write) {
    for (String key : candidates) {
      Uploads.Claim claim = uploads.claim(key);
      String hex = Uploads.hex(key);
      Digest digest = Uploads.digest(key);
      if (claim == null
          || !claim.at().isBefore(before)
          || uploads.isPinned(hex)
          || blobs.isHeld(digest)) {
        continue;
      }
      byte[] row = Keys.table(Uploads.TABLE, key);
      if (mentions.keepsClaim(key)) {
        named.add(key);
        write.put(Family.TABLES, row, new Uploads.Claim(claim.at(), claim.size(), true).toBytes());
        continue;
      }
      gone.add(key);
      write.delete(Family.TABLES, row);
      for (byte[] reference : referencesOf(Uploads.tenant(key), digest)) {
        write.delete(Family.TABLES, reference);
      }
      if (!mentions.keepsContent(hex) && gone.containsAll(uploads.ofContent(hex))) {
        removed.add(digest);
        bytes += claim.size();
        remove(write, digest);
        for (SealedCopy copy : blobs.copies(digest)) {
          write.delete(Family.TABLES, Keys.table(SealedCopy.TABLE, copy.key()));
          remove(write, copy.stored());
        }
      }
    }
  }

  private void remove(Write write, Digest stored) {
    blobs.at(stored).ifPresent(places::add);
    write.delete(Family.BLOBS, stored.bytes());
    write.delete(Family.FILES, stored.bytes());
  }

  private List<byte[]> referencesOf(String tenant, Digest digest) {
    List<byte[]> rows = new ArrayList<>();
    String whole = tenant + Keys.SEPARATOR + digest.hex();
    for (String table : references) {
      byte[] prefix = Keys.table(table, whole);
      store.scan(Family.TABLES, prefix, prefix, (row, _) -> rows.add(row));
    }
    return rows;
  }

  /** Called when the removal is durable. */
  void done() {
    for (String key : named) {
      Uploads.Claim claim = uploads.claim(key);
      uploads.put(key, new Uploads.Claim(claim.at(), claim.size(), true));
    }
    gone.forEach(uploads::remove);
    blobs.removeAtOnce(places);
  }

  /** Called after that in the thread of who waits, since it may take long. */
  void removeContents() {
    blobs.removeLater(places);
  }

  Found found() {
    return new Found(List.copyOf(gone), List.copyOf(removed), bytes);
  }
}
