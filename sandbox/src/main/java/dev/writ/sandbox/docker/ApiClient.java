package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The part of the Docker Engine API that confines processes, as docker and podman serve it. Each
 * request has its own connection, a deadline, and a limit for the size of its answer.
 */
public final class ApiClient {
  /** A service that systemd starts for this, on a busy host, takes a while. */
  private static final long LOOK_MS = 20_000;

  private static final long CALL_MS = 60_000;
  private static final long PULL_MS = 1_800_000;
  private static final int MOST_BODY = 8 << 20;
  private static final int MOST_WORDS = 500;
  private static final String JSON = "Content-Type: application/json\r\n";

  private final ServiceAddress address;
  private final Service service;

  private ApiClient(ServiceAddress address, Service service) {
    this.address = address;
    this.service = service;
  }

  /** Asks what serves a socket of this host. */
  public static ApiClient at(Path socket) {
    return at(ServiceAddress.of(socket));
  }

  /**
   * Asks what serves an address.
   *
   * @throws WritException {@code SBX-009} where nobody answers as a service does, {@code SBX-051}
   *     where one of both sides does not trust the other
   */
  public static ApiClient at(ServiceAddress address) {
    DockerAnswer version =
        DockerAnswer.read(call(address, LOOK_MS, "GET", "/version", "", new byte[0]));
    String api = version.text("ApiVersion");
    if (!api.matches("1\\.[0-9]{1,3}")) {
      throw ResponseHead.malformed("the version of the interface");
    }
    DockerAnswer info =
        DockerAnswer.read(call(address, LOOK_MS, "GET", "/v" + api + "/info", "", new byte[0]));
    boolean podman =
        version.inners("Components").stream().anyMatch(c -> c.text("Name").equals("Podman Engine"));
    List<String> security = new ArrayList<>();
    for (String option : info.texts("SecurityOptions")) {
      security.add(option.replaceFirst("^name=", "").replaceFirst(",.*$", ""));
    }
    if (info.flag("Rootless")) {
      security.add("rootless");
    }
    return new ApiClient(
        address,
        new Service(
            podman,
            version.text("Version"),
            api,
            security,
            info.flag("MemoryLimit"),
            info.flag("PidsLimit"),
            info.flag("CpuCfsQuota")));
  }

  public Service service() {
    return service;
  }

  /** Makes a container; returns its id. */
  public String create(String name, JsonValue.Obj container) {
    String target = "/containers/create?name=" + encoded(name);
    return id(DockerAnswer.read(json("POST", target, container)).text("Id"));
  }

  public void start(String container) {
    call("POST", "/containers/" + container + "/start", "", new byte[0]);
  }

  /**
   * @param pid of its first process on the host; 0 if none runs
   */
  public record ContainerState(boolean running, boolean oomKilled, long pid) {}

  public ContainerState state(String container) {
    DockerAnswer state =
        DockerAnswer.read(call("GET", "/containers/" + container + "/json", "", new byte[0]))
            .inner("State");
    return new ContainerState(state.flag("Running"), state.flag("OOMKilled"), state.number("Pid"));
  }

  /**
   * A container as the service has it.
   *
   * @param status {@code created}, {@code running}, {@code exited} and further words
   * @param code the exit code of its first process, once that has ended
   * @param oomKilled whether the kernel killed one of its processes for memory
   */
  public record Container(
      String id, String status, int code, boolean oomKilled, SortedMap<String, String> labels) {
    public Container {
      labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }
  }

  /** A container by its name or id. */
  public Optional<Container> container(String name) {
    String target = path("/containers/" + name + "/json");
    Response response = exchange(address, CALL_MS, "GET", target, "", new byte[0]);
    if (response.status() == 404) {
      return Optional.empty();
    }
    DockerAnswer answer = DockerAnswer.read(accepted(response));
    DockerAnswer state = answer.inner("State");
    DockerAnswer labels = answer.inner("Config").inner("Labels");
    TreeMap<String, String> all = new TreeMap<>();
    labels.object().members().keySet().forEach(key -> all.put(key, labels.text(key)));
    return Optional.of(
        new Container(
            id(answer.text("Id")),
            state.text("Status"),
            (int) state.number("ExitCode"),
            state.flag("OOMKilled"),
            all));
  }

  /** Sends a signal to the first process of a container that runs; does nothing if none does. */
  public void signal(String container, String signal) {
    String target = path("/containers/" + container + "/kill?signal=" + signal);
    exchange(address, CALL_MS, "POST", target, "", new byte[0]);
  }

  /** Makes a volume. */
  public void createVolume(JsonValue.Obj volume) {
    json("POST", "/volumes/create", volume);
  }

  /** Names of the volumes with a label. */
  public List<String> volumes(String label) {
    return DockerAnswer.read(call("GET", "/volumes?filters=" + labelled(label), "", new byte[0]))
        .inners("Volumes")
        .stream()
        .map(volume -> volume.text("Name"))
        .filter(name -> name.matches("[A-Za-z0-9][A-Za-z0-9_.-]*"))
        .toList();
  }

  /** Removes a volume; does nothing if it does not exist. */
  public void removeVolume(String name) {
    String target = path("/volumes/" + name + "?force=true");
    Response response = exchange(address, CALL_MS, "DELETE", target, "", new byte[0]);
    if (response.status() != 404) {
      accepted(response);
    }
  }

  /** Creates a process in a running container; returns its id. */
  public String exec(String container, JsonValue.Obj process) {
    String target = "/containers/" + container + "/exec";
    return id(DockerAnswer.read(json("POST", target, process)).text("Id"));
  }

  /** Starts the process, and attaches to its streams. */
  public Attached startExec(String exec) {
    ApiConnection connection = connect(address);
    try {
      ResponseHead head =
          connection.within(
              CALL_MS,
              () -> {
                byte[] body = Jcs.write(startBody());
                String headers = JSON + "Connection: Upgrade\r\nUpgrade: tcp\r\n";
                connection.send("POST", path("/exec/" + exec + "/start"), headers, body);
                return ResponseHead.read(connection.in());
              });
      if (head.status() != 101 && head.status() != 200) {
        byte[] words =
            connection.within(CALL_MS, () -> ResponseBody.read(head, connection.in(), MOST_BODY));
        throw refused(head.status(), words);
      }
      return new Attached(connection);
    } catch (RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private static JsonValue.Obj startBody() {
    return JsonValue.object().put("Detach", false).put("Tty", false).build();
  }

  /**
   * @param code its exit code, if it has ended
   * @param pid on the host; 0 if unknown
   */
  public record ExecState(boolean running, OptionalInt code, long pid) {}

  public ExecState execState(String exec) {
    DockerAnswer state = DockerAnswer.read(call("GET", "/exec/" + exec + "/json", "", new byte[0]));
    boolean running = state.flag("Running");
    OptionalInt code =
        running || !state.has("ExitCode")
            ? OptionalInt.empty()
            : OptionalInt.of((int) state.number("ExitCode"));
    return new ExecState(running, code, state.number("Pid"));
  }

  /** Kills the processes of a container and removes it; does nothing if it does not exist. */
  public void remove(String container) {
    String target = "/containers/" + container + "?force=true&v=true";
    for (int i = 0; ; i++) {
      Response response = exchange(address, CALL_MS, "DELETE", path(target), "", new byte[0]);
      if (response.status() < 300 || response.status() == 404) {
        return;
      }
      if (i == 9) {
        throw refused(response.status(), response.body());
      }
      LockSupport.parkNanos(100_000_000); // it is being removed already
    }
  }

  /** Ids of the containers with a label, running or not. */
  public List<String> containers(String label) {
    return ids("/containers/json?all=true&filters=", label);
  }

  /** Ids of the images with a label. */
  public List<String> images(String label) {
    return ids("/images/json?filters=", label);
  }

  private List<String> ids(String target, String label) {
    return DockerAnswer.list(call("GET", target + labelled(label), "", new byte[0])).stream()
        .map(a -> id(a.text("Id")))
        .toList();
  }

  private static String labelled(String label) {
    JsonValue.Obj filter =
        JsonValue.object().putList("label", List.of(label), JsonValue::of).build();
    return encoded(new String(Jcs.write(filter), StandardCharsets.UTF_8));
  }

  /** An image by its id, or by a name with a digest. */
  public Optional<Image> image(String reference) {
    String target = path("/images/" + reference + "/json");
    Response response = exchange(address, CALL_MS, "GET", target, "", new byte[0]);
    if (response.status() == 404) {
      return Optional.empty();
    }
    DockerAnswer answer = DockerAnswer.read(accepted(response));
    return Optional.of(
        new Image(
            id(answer.text("Id")),
            answer.texts("RepoDigests"),
            answer.inner("RootFS").texts("Layers"),
            !answer.inner("Config").inner("Volumes").object().members().isEmpty()));
  }

  /**
   * The id of the image that a reference names, which the service must have.
   *
   * @throws WritException {@code SBX-035}
   */
  public String imageId(ImageReference reference) {
    Image image =
        image(reference.toString())
            .or(() -> image(reference.digest().toString()))
            .filter(i -> i.is(reference))
            .orElseThrow(() ->
                new WritException(
                    SandboxError.IMAGE, reference + " is not here; nothing is pulled"));
    if (image.volumes()) {
      throw new WritException(SandboxError.IMAGE, reference + " declares volumes");
    }
    return image.id();
  }

  /** Makes an image of one layer from a tar, with a label and a name. */
  public void importImage(String name, String label, byte[] tar) {
    String target =
        "/images/create?fromSrc=-&repo=" + name + "&changes=" + encoded("LABEL " + label);
    call("POST", target, "Content-Type: application/x-tar\r\n", tar);
  }

  /**
   * Has the service fetch an image from its registry. The service decides which registries it uses
   * and trusts, and has the credentials.
   *
   * @param reference a tag, or a digest
   * @throws WritException {@code SBX-035} with the service's word
   */
  public void pull(String name, String reference) {
    String target = "/images/create?fromImage=" + encoded(name) + "&tag=" + encoded(reference);
    byte[] said = accepted(exchange(address, PULL_MS, "POST", path(target), "", new byte[0]));
    // A failure while it fetches is told in the stream of its progress, under the status 200.
    for (String line : new String(said, StandardCharsets.UTF_8).lines().toList()) {
      DockerAnswer told = DockerAnswer.read(line.getBytes(StandardCharsets.UTF_8));
      if (told.has("error")) {
        throw refusal(SandboxError.IMAGE, "the service cannot pull " + name, told.text("error"));
      }
    }
  }

  public void removeImage(String id) {
    String target = path("/images/" + id + "?force=true");
    Response response = exchange(address, CALL_MS, "DELETE", target, "", new byte[0]);
    if (response.status() != 404 && response.status() != 409) { // 409: another has it in use
      accepted(response);
    }
  }

  /** An id for use in further request paths; refuses anything that could change the path. */
  private static String id(String text) {
    if (!text.matches("(sha256:)?[0-9a-f]{12,64}")) {
      throw ResponseHead.malformed("an id");
    }
    return text;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private String path(String target) {
    return "/v" + service.api() + target;
  }

  private byte[] json(String method, String target, JsonValue.Obj body) {
    return call(method, target, JSON, Jcs.write(body));
  }

  private byte[] call(String method, String target, String headers, byte[] body) {
    return accepted(exchange(address, CALL_MS, method, path(target), headers, body));
  }

  private static byte[] call(
      ServiceAddress address, long ms, String method, String target, String headers, byte[] body) {
    return accepted(exchange(address, ms, method, target, headers, body));
  }

  private record Response(int status, byte[] body) {}

  private static Response exchange(
      ServiceAddress address, long ms, String method, String target, String headers, byte[] body) {
    try (ApiConnection connection = connect(address)) {
      return connection.within(
          ms,
          () -> {
            connection.send(method, target, headers + "Connection: close\r\n", body);
            ResponseHead head = ResponseHead.read(connection.in());
            return new Response(head.status(), ResponseBody.read(head, connection.in(), MOST_BODY));
          });
    }
  }

  private static ApiConnection connect(ServiceAddress address) {
    try {
      return address.open();
    } catch (IOException e) {
      throw new WritException(SandboxError.ENGINE_ANSWER, "nobody serves " + address, e);
    }
  }

  private static byte[] accepted(Response response) {
    if (response.status() >= 300 || response.status() < 200) {
      throw refused(response.status(), response.body());
    }
    return response.body();
  }

  /** A refusal with the service's own message, which names the option that it did not accept. */
  private static WritException refused(int status, byte[] body) {
    String words;
    try {
      words = DockerAnswer.read(body).text("message");
    } catch (WritException e) {
      words = "";
    }
    return refusal(SandboxError.ENGINE_FAILED, "the service answers " + status, words);
  }

  private static WritException refusal(SandboxError error, String what, String words) {
    String shown = words.length() > MOST_WORDS ? words.substring(0, MOST_WORDS) : words;
    return new WritException(error, what + ": " + shown.strip());
  }
}
