/** The tool gateway over gRPC (spec/surface-tools.md, gRPC). */
package dev.writ.grpc;
