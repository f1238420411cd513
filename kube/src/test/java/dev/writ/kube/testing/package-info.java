/** A cluster of one node for tests: an API that stores, and a kubelet that runs what it is told. */
package dev.writ.kube.testing;
