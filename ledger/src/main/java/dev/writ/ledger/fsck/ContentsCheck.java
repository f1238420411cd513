package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.Uploads;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.TreeMap;

/** Contents by their digest: in rows, in files, sealed, and uploads of tenants. */
final class ContentsCheck {
  private final Storage store;
  private final Blobs blobs;
  private final Examination found;

  ContentsCheck(Storage store, Blobs blobs, Examination found) {
    this.store = store;
    this.blobs = blobs;
    this.found = found;
  }

  void smallBlobs() {
    long[] count = {0};
    found.scan(
        Family.BLOBS,
        (key, content) -> {
          Digest calculated = Digest.sha256(content);
          if (!Arrays.equals(calculated.bytes(), key)) {
            found.problem("blob " + Digest.ofBytes(key), "calculated digest " + calculated);
          }
          found.done("blobs", ++count[0]);
          return true;
        });
    found.verified(count[0] + " blobs in the database: digest");
  }

  /**
   * A writer may delete a content meanwhile, and its file with it; then no row names it any more.
   */
  void fileBlobs() {
    long[] count = {0};
    TreeMap<Digest, String> failed = new TreeMap<>();
    found.scan(
        Family.FILES,
        (key, row) -> {
          Digest digest = Digest.ofBytes(key);
          try (InputStream in = blobs.openLarge(digest, row)) {
            in.transferTo(OutputStream.nullOutputStream());
          } catch (IOException e) {
            found.problem("blob " + digest, Failures.of("reading", e).getMessage());
          } catch (WritException e) {
            found.requireAsked(e);
            failed.put(digest, e.getMessage());
          }
          found.done("blob files", ++count[0]);
          return true;
        });
    if (!failed.isEmpty()) {
      store.catchUp();
    }
    failed.forEach((digest, why) -> {
      if (store.has(Family.FILES, digest.bytes())) {
        found.problem("blob " + digest, why);
      }
    });
    found.verified(count[0] + " blobs in files: size, digest");
  }

  /** Copies under keys; that they open is not looked at, since fsck needs no keys. */
  void sealedCopies() {
    byte[] prefix = Keys.table(SealedCopy.TABLE, "");
    long[] count = {0};
    store.scan(
        Family.TABLES,
        prefix,
        prefix,
        (row, value) -> {
          String key =
              new String(row, prefix.length, row.length - prefix.length, StandardCharsets.UTF_8);
          try {
            SealedCopy copy = SealedCopy.parse(key, StoredForm.fromValue(value));
            if (!blobs.hasPlain(copy.stored())) {
              found.problem(
                  "sealed " + copy.content(), "its sealed form " + copy.stored() + " is missing");
            }
          } catch (WritException e) {
            found.requireAsked(e);
            found.problem("sealed " + key, e.getMessage());
          }
          found.done("sealed contents", ++count[0]);
          return true;
        });
    if (count[0] > 0) {
      found.verified(count[0] + " sealed contents: their sealed form is here");
      found.notVerified("that sealed contents open: fsck reads no keys");
    }
  }

  /** The tenants' uploads: each claim is on a blob of the stated size. */
  void uploads() {
    byte[] prefix = Keys.table(Uploads.TABLE, "");
    long[] count = {0, 0};
    store.scan(
        Family.TABLES,
        prefix,
        prefix,
        (row, value) -> {
          String key =
              new String(row, prefix.length, row.length - prefix.length, StandardCharsets.UTF_8);
          try {
            Uploads.Claim claim = Uploads.Claim.parse(value);
            long size = blobs.size(Uploads.digest(key));
            if (size != claim.size()) {
              found.problem(
                  "upload " + key, "it says " + claim.size() + " bytes, the blob has " + size);
            }
            count[claim.named() ? 1 : 0]++;
          } catch (WritException e) {
            found.requireAsked(e);
            found.problem("upload " + key, e.getMessage());
          }
          found.done("uploads", count[0] + count[1]);
          return true;
        });
    found.verified(
        count[0]
            + count[1]
            + " uploads: blob, size; "
            + count[0]
            + " of them no document was found to name so far");
  }
}
