/** Commands in containers of a docker or podman service on another host. */
package dev.writ.sandbox.remote;
