package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import dev.writ.ledger.note.WitnessKey;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How a server publishes checkpoints of its log (spec/witness.md, "Publishing").
 *
 * @param every how often a checkpoint is made
 * @param witnesses who are asked to cosign it
 * @param quorum so many of them have to, or it is not published
 * @param folder where it is published
 * @param bucket the address of an object store where it is published
 * @param stamps who are asked for a time stamp of what was published
 */
public record CheckpointSettings(
    Duration every,
    List<WitnessAt> witnesses,
    int quorum,
    Optional<Path> folder,
    Optional<URI> bucket,
    List<StampsAt> stamps) {
  private static final long EVERY_S = 300;
  private static final long EVERY_S_MAX = 86_400;

  public CheckpointSettings {
    witnesses = List.copyOf(witnesses);
    stamps = List.copyOf(stamps);
  }

  /** The same with places of that cell's own, where an installation has several logs. */
  public CheckpointSettings inCell(int cell) {
    String own = "cell-" + cell;
    return new CheckpointSettings(
        every,
        witnesses,
        quorum,
        folder.map(dir -> dir.resolve(own)),
        bucket.map(store -> below(store, own)),
        stamps);
  }

  private static URI below(URI store, String own) {
    String whole = store.toString();
    int query = whole.indexOf('?');
    String path = (query < 0 ? whole : whole.substring(0, query)).replaceAll("/+$", "");
    return URI.create(path + "/" + own + (query < 0 ? "" : whole.substring(query)));
  }

  /**
   * A time stamp authority.
   *
   * @param name a word in the names of files
   * @param tsaCa PEM of those who are believed to certify it
   * @param ca PEM of the authority of its server's certificate, in place of the JDK's
   */
  public record StampsAt(String name, URI url, Path tsaCa, Optional<Path> ca) {
    private static final String NAME = "[a-z0-9][a-z0-9-]{0,31}";

    static StampsAt read(Section s) {
      String name = s.name("name");
      s.require("name", name.matches(NAME), "no word of a-z, 0-9 and -");
      StampsAt stamps =
          new StampsAt(
              name,
              address(s),
              Path.of(s.name("tsa_ca")),
              s.optional("ca", k -> Path.of(s.name(k))));
      s.end();
      return stamps;
    }

    StampsAt inFolder(Path folder) {
      return new StampsAt(name, url, folder.resolve(tsaCa), ca.map(folder::resolve));
    }
  }

  /**
   * A witness.
   *
   * @param ca PEM of the authority of its certificate, in place of the JDK's
   */
  public record WitnessAt(URI url, WitnessKey key, Optional<Path> ca) {
    static WitnessAt read(Section s) {
      WitnessAt witness =
          new WitnessAt(address(s), key(s), s.optional("ca", k -> Path.of(s.name(k))));
      s.end();
      return witness;
    }

    private static WitnessKey key(Section s) {
      try {
        return WitnessKey.parse(s.name("key"));
      } catch (WritException e) {
        throw s.at("key", GuardianError.POLICY_VALUE, e.found());
      }
    }

    WitnessAt inFolder(Path folder) {
      return new WitnessAt(url, key, ca.map(folder::resolve));
    }
  }

  CheckpointSettings inFolder(Path dir) {
    return new CheckpointSettings(
        every,
        witnesses.stream().map(w -> w.inFolder(dir)).toList(),
        quorum,
        folder.map(dir::resolve),
        bucket,
        stamps.stream().map(one -> one.inFolder(dir)).toList());
  }

  static CheckpointSettings read(Section s) {
    long every = s.optional("every_s", k -> s.between(k, 1, EVERY_S_MAX)).orElse(EVERY_S);
    List<WitnessAt> witnesses =
        s.listOrNone("witnesses", item -> WitnessAt.read(item.itemSection()));
    int different = (int) witnesses.stream().map(w -> w.key().key()).distinct().count();
    s.require("witnesses", different == witnesses.size(), "names the key of a witness twice");
    int quorum = s.optional("quorum", k -> (int) s.between(k, 0, different)).orElse(different);
    Optional<Path> folder = s.optional("folder", k -> Path.of(s.name(k)));
    Optional<URI> bucket = s.optional("bucket", k -> bucket(s, k));
    List<StampsAt> stamps = s.listOrNone("stamps", item -> StampsAt.read(item.itemSection()));
    s.require(
        "stamps",
        stamps.stream().map(StampsAt::name).distinct().count() == stamps.size(),
        "uses a name twice");
    s.require("", folder.isPresent() || bucket.isPresent(), "names neither a folder nor a bucket");
    s.end();
    return new CheckpointSettings(
        Duration.ofSeconds(every), witnesses, quorum, folder, bucket, stamps);
  }

  /**
   * What an address of a bucket may be, its store says; here it is one, and shown in no message.
   */
  private static URI bucket(Section s, String key) {
    try {
      return new URI(s.name(key));
    } catch (URISyntaxException e) {
      throw s.at(key, GuardianError.POLICY_VALUE, "no address");
    }
  }

  /** Addresses stand in logs, so nothing secret may be in one. */
  private static URI address(Section s) {
    try {
      URI url = new URI(s.name("url"));
      boolean isPlain =
          url.getHost() != null
              && url.getRawUserInfo() == null
              && url.getRawQuery() == null
              && url.getRawFragment() == null;
      s.require(
          "url",
          isPlain && ("https".equals(url.getScheme()) || "http".equals(url.getScheme())),
          "no http address without user and query");
      return url;
    } catch (URISyntaxException e) {
      throw s.at("url", GuardianError.POLICY_VALUE, "no address");
    }
  }
}
