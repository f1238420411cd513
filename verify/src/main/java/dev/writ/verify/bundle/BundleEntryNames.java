package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The entries of a bundle (spec/bundle.md). */
final class BundleEntryNames {
  static final String MANIFEST = "bundle.json";
  static final String RUN = "journal/run.jsonl";
  static final String SYSTEM = "journal/system.jsonl";
  static final String CONSUMED = "journal/consumed.jsonl";
  static final String TRUST = "trust.jwks";
  static final String CHECKPOINT = "log/checkpoint.txt";
  static final String CONSISTENCY = "log/consistency.json";
  static final String INCLUSION = "log/inclusion.json";
  static final String DOCUMENTS = "documents/";
  static final String BLOBS = "blobs/";
  static final String TOOLS = "tools/";

  static final TreeSet<String> SINGLE =
      new TreeSet<>(
          List.of(MANIFEST, RUN, SYSTEM, CONSUMED, TRUST, CHECKPOINT, CONSISTENCY, INCLUSION));

  private static final String JSON = ".json";
  private static final int HEX = 2 * Digest.LENGTH;
  private static final int BLOB_NAME = BLOBS.length() + HEX;
  private static final int DOCUMENT_NAME = DOCUMENTS.length() + HEX + JSON.length();

  /** The first two bits of keys. */
  private static final int BLOB = 1;

  private static final int DOCUMENT = 2;
  private static final int KEY_BITS = Integer.SIZE - 2;
  private static final Pattern TOOL =
      Pattern.compile("tools/[^/]+/[0-9a-f]{64}/(?:manifest\\.json|files/.+)");

  /** Limits of bundle.json and of the consistency proof. */
  static final Limits LIMITS = new Limits(64 << 10, 4);

  /** Limits of the keys, of a tool's manifest, and of each of its files. */
  static final int CONTENT_MAX = 64 << 20;

  private BundleEntryNames() {}

  static String document(Digest id) {
    return DOCUMENTS + id.hex() + JSON;
  }

  static String blob(Digest digest) {
    return BLOBS + digest.hex();
  }

  static String journal(RecordedRun.Journal journal) {
    return switch (journal) {
      case RUN -> RUN;
      case SYSTEM -> SYSTEM;
      case CONSUMED -> CONSUMED;
    };
  }

  /** With the package's digest, since a version can be registered again while a run is open. */
  static String tool(ToolRef tool) {
    return folder(tool) + "manifest.json";
  }

  static boolean isManifest(String name) {
    return name.endsWith("/manifest.json") && name.split("/", -1).length == 4;
  }

  static String file(ToolRef tool, ToolManifest.PackageFile file) {
    return ArchiveForm.name(folder(tool) + "files/" + file.path());
  }

  private static String folder(ToolRef tool) {
    return ArchiveForm.name(
            TOOLS + tool.name() + "-" + tool.version() + "/" + tool.packageDigest().hex())
        + "/";
  }

  /**
   * A number by which names with a digest are sorted, as an unsigned one: two bits for the folder,
   * and the first 30 of the digest; 0 for other names.
   */
  static int key(String name) {
    if (name.startsWith(BLOBS) && name.length() == BLOB_NAME) {
      return key(BLOB, name, BLOBS.length());
    }
    if (name.startsWith(DOCUMENTS) && name.length() == DOCUMENT_NAME && name.endsWith(JSON)) {
      return key(DOCUMENT, name, DOCUMENTS.length());
    }
    return 0;
  }

  private static int key(int folder, String name, int from) {
    long first = 0;
    for (int i = 0; i < HEX; i++) {
      char c = name.charAt(from + i);
      int digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : -1;
      if (digit < 0) {
        return 0;
      }
      first = i < Integer.SIZE / 4 ? first << 4 | digit : first;
    }
    return folder << KEY_BITS | (int) (first >>> Integer.SIZE - KEY_BITS);
  }

  /** Whether it is the key of a name with a digest. */
  static boolean hasDigest(int key) {
    return key >>> KEY_BITS != 0;
  }

  /** Whether it is the key of a blob. */
  static boolean isBlob(int key) {
    return key >>> KEY_BITS == BLOB;
  }

  /** The length of a name with a digest. */
  static int nameLength(int key) {
    return isBlob(key) ? BLOB_NAME : DOCUMENT_NAME;
  }

  /** Whether a bundle may have an entry of that name. */
  static boolean isKnown(String name) {
    return key(name) != 0 || SINGLE.contains(name) || TOOL.matcher(name).matches();
  }
}
