package dev.writ.s3;

import dev.writ.canonicalize.disk.ScratchDirectory;
import dev.writ.sinks.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;

/**
 * A server of the S3 protocol with a bucket {@code writ}: S3Proxy, or Ceph with {@code
 * -Dwrit.s3=ceph} (spec/testing.md).
 */
public abstract class S3Server extends ServerProcess {
  /** What it lets in, as the environment of a process names it. */
  public static final String KEY_ID = "writ-tests";

  public static final String SECRET = "a-secret-of-the-tests";
  private static S3Server shared;

  private final AtomicInteger prefixes = new AtomicInteger();
  private S3Client client;

  S3Server(Path dir) {
    super(dir);
  }

  /** One for all tests of this JVM, whose own client finds the credentials. */
  public static synchronized S3Server shared() {
    if (shared == null) {
      try {
        Path dir = ScratchDirectory.create("writ-s3-");
        shared = isCeph() ? new CephServer(dir) : new S3ProxyServer(dir);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
      shared.start();
      shared.client = shared.clientAt(shared.port());
      shared.client.createBucket(b -> b.bucket("writ"));
      System.setProperty("aws.accessKeyId", KEY_ID);
      System.setProperty("aws.secretAccessKey", SECRET);
    }
    return shared;
  }

  static boolean isCeph() {
    return "ceph".equals(System.getProperty("writ.s3"));
  }

  private S3Client clientAt(int port) {
    return S3Client.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(URI.create("http://127.0.0.1:" + port))
        .forcePathStyle(true)
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .serviceConfiguration(S3Configuration.builder().chunkedEncodingEnabled(false).build())
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY_ID, SECRET)))
        .httpClient(UrlConnectionHttpClient.create())
        .build();
  }

  /** Past any relay and any rule of ours, with the key of the buckets' owner. */
  public S3Client client() {
    return client;
  }

  /** The address of a prefix in which nothing is. */
  public URI newAddress() {
    return address("writ/t" + prefixes.incrementAndGet(), port());
  }

  /**
   * The address of an archive: in a bucket with object lock, and with one, where the server has
   * that.
   */
  public URI newArchive() {
    return newAddress();
  }

  /** An address by which the server is reached through another port. */
  static URI address(String place, int port) {
    return URI.create("s3://" + place + "?endpoint=http://127.0.0.1:" + port + "&patience_s=20");
  }

  /** Past any relay and any rule of ours. */
  public byte[] get(URI address, String object) {
    return client
        .getObjectAsBytes(b -> b.bucket(address.getHost()).key(key(address, object)))
        .asByteArray();
  }

  public void put(URI address, String object, byte[] bytes) {
    client.putObject(
        b -> b.bucket(address.getHost()).key(key(address, object)), RequestBody.fromBytes(bytes));
  }

  public void delete(URI address, String object) {
    client.deleteObject(b -> b.bucket(address.getHost()).key(key(address, object)));
  }

  /** The names of objects behind the prefix. */
  public List<String> names(URI address) {
    List<String> names = new ArrayList<>();
    String prefix = key(address, "");
    client
        .listObjectsV2(b -> b.bucket(address.getHost()).prefix(prefix))
        .contents()
        .forEach(object -> names.add(object.key().substring(prefix.length())));
    return names;
  }

  private static String key(URI address, String object) {
    return address.getPath().substring(1) + "/" + object;
  }
}
