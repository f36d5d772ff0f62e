// Package e2e_framework is what a user of sigs.k8s.io/e2e-framework writes: its provider for kwok makes
// the cluster of these tests, with the kwokctl of the PATH, and destroys it. `make framework` runs it.
package e2e_framework

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/klient/conf"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"
	"sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/e2e-framework/support/kwok"
)

const (
	name          = "framework"
	configuration = `
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlConfiguration
options: {disableQPSLimits: true}
`
)

var (
	testenv  = env.New()
	patience = []wait.Option{wait.WithTimeout(3 * time.Minute), wait.WithInterval(200 * time.Millisecond)}
)

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "framework-")
	must(err)
	config, logs := filepath.Join(folder, "kwok.yaml"), filepath.Join(folder, "logs")
	must(os.WriteFile(config, []byte(configuration), 0o600))
	must(os.Setenv("KWOK_WORKDIR", filepath.Join(folder, "work")))
	must(os.Setenv("KUBECONFIG", filepath.Join(folder, "kubeconfig")))

	patient := kwok.WithWaitDuration(3 * time.Minute)
	namespace := envconf.RandomName("test", 10)
	testenv.Setup(
		envfuncs.CreateClusterWithConfig(kwok.NewProvider(), name, config, patient),
		// One that exists is used as it is.
		envfuncs.CreateClusterWithOpts(kwok.NewProvider(), name, patient),
		envfuncs.CreateNamespace(namespace),
	)
	testenv.Finish(
		envfuncs.DeleteNamespace(namespace),
		envfuncs.ExportClusterLogs(name, logs),
		envfuncs.DestroyCluster(name),
	)
	code := testenv.Run(m)
	_, err = os.Stat(filepath.Join(logs, name, "components", "kube-apiserver.log"))
	must(err)
	left, err := os.ReadDir(filepath.Join(folder, "work", "clusters"))
	if err == nil && len(left) > 0 {
		panic("the cluster is still there")
	}
	must(os.RemoveAll(folder))
	os.Exit(code)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func TestDeploymentBecomesAvailable(t *testing.T) {
	deployment := &appsv1.Deployment{}
	testenv.Test(t, features.New("deployment").
		Setup(func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			deployment = web(c.Namespace())
			for _, object := range []k8s.Object{fakeNode(), deployment} {
				if err := c.Client().Resources().Create(ctx, object); err != nil {
					t.Fatal(err)
				}
			}
			return ctx
		}).
		Assess("is available", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			available := conditions.New(c.Client().Resources()).DeploymentAvailable(deployment.Name, deployment.Namespace)
			if err := wait.For(available, patience...); err != nil {
				t.Fatal(err)
			}
			return ctx
		}).Feature())
}

func TestProviderFindsTheClusterAgain(t *testing.T) {
	testenv.Test(t, features.New("provider").
		Assess("writes a kubeconfig", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			cluster, ok := envfuncs.GetClusterFromContext(ctx, name)
			if !ok {
				t.Fatal("the cluster is not in the context")
			}
			if _, err := conf.New(cluster.GetKubeconfig()); err != nil {
				t.Fatal(err)
			}
			return ctx
		}).
		Assess("names its context", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
			cluster, _ := envfuncs.GetClusterFromContext(ctx, name)
			if _, err := conf.NewWithContextName(os.Getenv("KUBECONFIG"), cluster.GetKubectlContext()); err != nil {
				t.Fatal(err)
			}
			return ctx
		}).Feature())
}

func fakeNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        "node-0",
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
	}}
}

func web(namespace string) *appsv1.Deployment {
	replicas, labels := int32(2), map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}
}
