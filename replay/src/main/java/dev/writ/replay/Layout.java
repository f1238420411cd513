package dev.writ.replay;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.document.ToolRef;

/** Where things are in a bundle (spec/bundle.md). */
final class Layout {
  static final String MANIFEST = "bundle.json";
  static final String RUN = "journal/run.jsonl";
  static final String SYSTEM = "journal/system.jsonl";
  static final String CONSUMED = "journal/consumed.jsonl";
  static final String TRUST = "trust.jwks";
  static final String CHECKPOINT = "log/checkpoint.txt";
  static final String PROOFS = "log/proofs.json";
  static final String DOCUMENTS = "documents/";
  static final String BLOBS = "blobs/";
  static final String TOOLS = "tools/";

  /** For bundle.json and the proofs, which grow with the run. */
  static final Limits LIMITS = new Limits(256 << 20, 4);

  private Layout() {}

  static String document(Digest id) {
    return DOCUMENTS + id.hex() + ".json";
  }

  static String blob(Digest digest) {
    return BLOBS + digest.hex();
  }

  /** With the package's digest, for a version can be registered anew while a run is open. */
  static String tool(ToolRef tool) {
    return Archive.name(
        TOOLS
            + tool.name()
            + "-"
            + tool.version()
            + "/"
            + tool.packageDigest().hex()
            + "/manifest.json");
  }
}
