package dev.writ.s3;

import dev.writ.canonicalize.disk.ScratchDirectory;
import dev.writ.sinks.testing.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * S3Proxy, a server of the S3 protocol from Maven Central, with its objects in memory. It checks
 * signatures and clocks, and listens to nothing but loopback.
 */
public final class S3Server extends ServerProcess {
  /** What it lets in, as the environment of a process names it. */
  public static final String KEY_ID = "writ-tests";

  public static final String SECRET = "a-secret-of-the-tests";
  private static final Path POM = Path.of("src/test/s3proxy/pom.xml");
  private static final String GOAL =
      "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";
  private static S3Server shared;

  private final AtomicInteger prefixes = new AtomicInteger();
  private final S3Client client;

  private S3Server(Path dir) throws IOException {
    super(dir);
    Files.writeString(
        dir.resolve("s3proxy.conf"),
        """
        s3proxy.authorization=aws-v2-or-v4
        s3proxy.endpoint=http://127.0.0.1:%d
        s3proxy.identity=%s
        s3proxy.credential=%s
        jclouds.provider=transient-nio2
        jclouds.identity=none
        jclouds.credential=none
        """
            .formatted(port(), KEY_ID, SECRET));
    Files.writeString(
        dir.resolve("logback.xml"), "<configuration><root level=\"OFF\"/></configuration>");
    start();
    client =
        S3Client.builder()
            .region(Region.US_EAST_1)
            .endpointOverride(endpoint())
            .forcePathStyle(true)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create(KEY_ID, SECRET)))
            .httpClient(UrlConnectionHttpClient.create())
            .build();
    client.createBucket(b -> b.bucket("writ"));
  }

  /** One for all tests of this JVM, whose own client finds the credentials. */
  public static synchronized S3Server shared() {
    if (shared == null) {
      try {
        shared = new S3Server(ScratchDirectory.create("writ-s3-"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
      System.setProperty("aws.accessKeyId", KEY_ID);
      System.setProperty("aws.secretAccessKey", SECRET);
    }
    return shared;
  }

  @Override
  protected List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xshare:auto",
        "-Dlogback.configurationFile=" + dir.resolve("logback.xml"),
        "-cp",
        classPath(),
        "org.gaul.s3proxy.Main",
        "--properties",
        dir.resolve("s3proxy.conf").toString());
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + port());
  }

  /** The address of a prefix in which nothing is. */
  public URI newAddress() {
    return address("writ/t" + prefixes.incrementAndGet(), port());
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

  /** Resolved by Maven, which fetches what the local repository lacks. */
  private static String classPath() {
    Path module = Path.of(System.getProperty("writ.root"), "s3");
    Path resolved = module.resolve("target/s3proxy-classpath");
    try {
      if (!Files.exists(resolved)
          || Files.getLastModifiedTime(resolved)
                  .compareTo(Files.getLastModifiedTime(module.resolve(POM)))
              < 0) {
        resolve(module.resolve(POM), resolved);
      }
      return Files.readString(resolved);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void resolve(Path pom, Path to) throws IOException {
    String said = "";
    for (List<String> online : List.of(List.of("-o"), List.<String>of())) {
      List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B"));
      command.addAll(online);
      command.addAll(List.of("-f", pom.toString(), GOAL, "-Dmdep.outputFile=" + to));
      Process maven = new ProcessBuilder(command).redirectErrorStream(true).start();
      said = new String(maven.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      try {
        if (maven.waitFor() == 0) {
          return;
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new IllegalStateException(said);
  }
}
