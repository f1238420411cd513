package dev.writ.s3;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Ceph in one directory: a monitor, one store of objects in memory, and the gateway of the S3
 * protocol, which has object lock. They listen to nothing but loopback, and end with this process.
 */
public final class CephServer extends S3Server {
  /** A bucket with object lock and without a default retention. */
  public static final String LOCKED = "writ-locked";

  private final List<Process> daemons = new ArrayList<>();
  private boolean isBucketMade;

  CephServer(Path dir) {
    super(dir);
  }

  @Override
  protected List<String> command() {
    return List.of("radosgw", "-c", file("ceph.conf"), "-f", "-n", "client.admin");
  }

  private String file(String name) {
    return dir.resolve(name).toString();
  }

  @Override
  public void start() {
    try {
      configure();
      String cluster = "-c";
      String config = file("ceph.conf");
      daemons.add(daemon("ceph-mon", cluster, config, "-f", "-i", "a"));
      run("ceph", cluster, config, "--connect-timeout", "120", "osd", "new", osd.toString());
      run("ceph-osd", cluster, config, "-i", "0", "--mkfs", "--osd-uuid", osd.toString());
      daemons.add(daemon("ceph-osd", cluster, config, "-f", "-i", "0"));
      run(
          "radosgw-admin",
          cluster,
          config,
          "user",
          "create",
          "--uid=writ",
          "--display-name=writ",
          "--access-key=" + KEY_ID,
          "--secret-key=" + SECRET);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    super.start();
  }

  private final UUID osd = UUID.randomUUID();

  private void configure() throws IOException {
    UUID cluster = UUID.randomUUID();
    String monitor = "[v2:127.0.0.1:" + freePort() + "]";
    for (String folder : List.of("mon", "osd")) {
      Files.createDirectories(dir.resolve(folder));
    }
    Files.writeString(
        dir.resolve("ceph.conf"),
        """
        [global]
        fsid = %1$s
        mon_host = %2$s
        mon_initial_members = a
        public_addr = 127.0.0.1
        cluster_addr = 127.0.0.1
        ms_bind_msgr1 = false
        keyring = %3$s/keyring
        mon_data = %3$s/mon
        osd_data = %3$s/osd
        run_dir = %3$s
        admin_socket = %3$s/$name.$pid.asok
        log_file = %3$s/$name.log
        mon_cluster_log_file = %3$s/cluster.log
        osd_objectstore = memstore
        memstore_device_bytes = 2147483648
        osd_pool_default_size = 1
        osd_pool_default_min_size = 1
        osd_pool_default_pg_num = 4
        osd_pool_default_pgp_num = 4
        osd_pool_default_pg_autoscale_mode = off
        osd_crush_chooseleaf_type = 0
        mon_allow_pool_size_one = true
        mon_max_pg_per_osd = 1000
        mon_data_avail_crit = 1
        [client.admin]
        rgw_frontends = beast endpoint=127.0.0.1:%4$d
        """
            .formatted(cluster, monitor, dir, port()));
    String ring = file("keyring");
    key(ring, "mon.", List.of("mon"));
    key(ring, "client.admin", List.of("mon", "osd", "mgr"));
    key(ring, "osd.0", List.of("mon", "osd"));
    run(
        "monmaptool",
        "--create",
        "--fsid",
        cluster.toString(),
        "--addv",
        "a",
        monitor,
        file("map"));
    run(
        "ceph-mon",
        "-c",
        file("ceph.conf"),
        "--mkfs",
        "-i",
        "a",
        "--monmap",
        file("map"),
        "--keyring",
        ring);
  }

  private void key(String ring, String name, List<String> rights) throws IOException {
    List<String> command = new ArrayList<>(List.of("ceph-authtool", ring, "--gen-key"));
    if (!Files.exists(Path.of(ring))) {
      command.add("--create-keyring");
    }
    command.addAll(List.of("-n", name));
    rights.forEach(right -> command.addAll(List.of("--cap", right, "allow *")));
    run(command.toArray(String[]::new));
  }

  private ProcessBuilder builder(String... command) {
    return new ProcessBuilder(command)
        .directory(dir.toFile())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(dir.resolve("ceph.log").toFile()));
  }

  private Process daemon(String... command) throws IOException {
    return builder(command).start();
  }

  private void run(String... command) throws IOException {
    try {
      Process process = builder(command).start();
      if (!process.waitFor(300, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IOException(
            String.join(" ", command) + ": " + Files.readString(dir.resolve("ceph.log")));
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public synchronized URI newArchive() {
    if (!isBucketMade) {
      client().createBucket(b -> b.bucket(LOCKED).objectLockEnabledForBucket(true));
      isBucketMade = true;
    }
    String plain = newAddress().toString().replace("s3://writ/", "s3://" + LOCKED + "/");
    return URI.create(plain + "&lock=compliance&lock_days=1");
  }

  @Override
  public void close() {
    super.close();
    daemons.forEach(Process::destroyForcibly);
  }
}
