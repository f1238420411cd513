package dev.writ.cli.command.serve;

import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;
import dev.writ.cli.command.tool.ToolPools;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.mcp.RegistryTools;
import dev.writ.cli.mcp.ToldOnce;
import dev.writ.console.audit.AuditSurface;
import dev.writ.console.audit.RunAuditor;
import dev.writ.console.oidc.OidcSurface;
import dev.writ.console.operation.OperationSurface;
import dev.writ.console.policy.PolicySurface;
import dev.writ.console.tool.ToolSurface;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.console.web.SignOutSurface;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.gateway.v1.VouchedSurface;
import dev.writ.grpc.GrpcSurface;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.seed.SeedSurfaces;
import dev.writ.surfaces.tools.ToolsSurface;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** The surfaces that {@code writ serve} has beside the native API. */
final class ServedSurfaces {
  private ServedSurfaces() {}

  /**
   * The surfaces that the configuration names beside the native API. Seed 000's audit lines go to
   * the log.
   */
  static BiFunction<Pipeline, Lane, List<Surface>> of(
      Session session,
      OpenHome open,
      GatewayConfig config,
      Sessions sessions,
      ServedOperations operations,
      Map<String, String> environment,
      Path directory) {
    return (pipeline, lane) -> {
      List<Surface> all =
          new ArrayList<>(
              SeedSurfaces.of(
                  pipeline,
                  config.surfaces(),
                  environment,
                  directory,
                  line -> JsonLog.write(ServerLog.stream(session), line)));
      SeedSurfaces.grpcPort(config.surfaces())
          .ifPresent(port ->
              List.copyOf(all).stream()
                  .filter(ToolsSurface.class::isInstance)
                  .map(ToolsSurface.class::cast)
                  .forEach(tools -> all.add(new GrpcSurface(tools, port))));
      Optional.ofNullable(config.surfaces().get(EngineSurface.NAME))
          .ifPresent(_ ->
              all.add(
                  new EngineSurface(
                      pipeline,
                      open.packages()::manifest,
                      lane,
                      ToolPools.place(pipeline, open.workers(), config.extras().region()))));
      Optional.ofNullable(config.surfaces().get(VouchedSurface.NAME))
          .ifPresent(_ -> all.add(new VouchedSurface(pipeline, open.packages()::manifest)));
      Optional.ofNullable(config.surfaces().get(McpSurface.NAME))
          .filter(mcp -> McpSettings.parse(mcp.settings()).served())
          .ifPresent(mcp -> all.add(mcp(session, pipeline, open, config, mcp)));
      all.add(
          new OidcSurface(
              sessions,
              new SecureRandom(),
              Homes.clock(),
              refused -> ServerLog.signInRefused(session, refused)));
      all.add(
          new ConsoleSurface(
              pipeline,
              sessions,
              new ConsoleSurface.Server(
                  Version.text(),
                  config.extras().region().orElse(""),
                  !config.extras().certificates().isEmpty())));
      all.add(
          new SignOutSurface(pipeline, sessions, ended -> ServerLog.sessionsEnded(session, ended)));
      all.add(new OperationSurface(pipeline, Version.text(), operations));
      all.add(
          new AuditSurface(
              pipeline,
              new RunBundle(open.packages()),
              new RunAuditor(List.copyOf(open.drivers().byName().values())),
              new SecureRandom(),
              failure -> ServerLog.uncaught(ServerLog.of(session), failure)));
      all.add(new ToolSurface(pipeline, open.packages()));
      all.add(new PolicySurface(pipeline, open.packages()::manifest));
      return all;
    };
  }

  /** With what commands of the home have the server do. */
  static BiFunction<Pipeline, Lane, List<Surface>> forHome(
      OpenHome open, Tokens.Entry own, BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    return (pipeline, lane) -> {
      List<Surface> all = new ArrayList<>(surfaces.apply(pipeline, lane));
      all.add(new HomeSurface(open, own));
      return all;
    };
  }

  private static Surface mcp(
      Session session, Pipeline pipeline, OpenHome open, GatewayConfig config, SurfaceConfig mcp) {
    InstalledTools packages = open.packages();
    return new McpSurface(
        pipeline,
        new RegistryTools(
            open, packages, new ToldOnce(broken -> ServerLog.broken(session, broken))),
        new RunBundle(packages),
        McpSettings.parse(mcp.settings()),
        config.listen().isLoopback(),
        Version.text(),
        new SecureRandom());
  }
}
