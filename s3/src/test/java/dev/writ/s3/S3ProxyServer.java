package dev.writ.s3;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * S3Proxy, a server of the S3 protocol from Maven Central, with its objects in memory. It checks
 * signatures and clocks, and listens to nothing but loopback. It has no object lock, and ignores
 * headers that ask for one.
 */
final class S3ProxyServer extends S3Server {
  private static final Path POM = Path.of("src/test/s3proxy/pom.xml");
  private static final String GOAL =
      "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";

  S3ProxyServer(Path dir) throws IOException {
    super(dir);
    Files.writeString(
        dir.resolve("s3proxy.conf"),
        """
        s3proxy.authorization=aws-v2-or-v4
        s3proxy.endpoint=http://127.0.0.1:%d
        s3proxy.identity=%s
        s3proxy.credential=%s
        s3proxy.ignore-unknown-headers=true
        jclouds.provider=transient-nio2
        jclouds.identity=none
        jclouds.credential=none
        """
            .formatted(port(), KEY_ID, SECRET));
    Files.writeString(
        dir.resolve("logback.xml"), "<configuration><root level=\"OFF\"/></configuration>");
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
