/** The engine that runs each command in a pod of a Kubernetes cluster. */
package dev.writ.kube;
