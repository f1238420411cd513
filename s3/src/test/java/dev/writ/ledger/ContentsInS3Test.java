package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.storage.ContentPlace;
import dev.writ.s3.S3Server;
import java.net.URI;

class ContentsInS3Test extends SharedAnchorContract {
  private final S3Server server = S3Server.shared();

  @Override
  URI newAddress() {
    return server.newAddress();
  }

  @Override
  void damage(URI store, Digest digest, byte[] place) {
    String object = "contents/" + digest.hex() + "/" + ContentPlace.text(place);
    byte[] bytes = server.get(store, object);
    bytes[100] ^= 1;
    server.put(store, object, bytes);
  }

  @Override
  void removeAnchor(URI store) {
    server.delete(store, "anchor");
  }
}
