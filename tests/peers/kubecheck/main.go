// kubecheck holds Kubernetes manifests against the API server's own code for custom resources:
// strict decoding, structural schema, defaults, list types and CEL rules, all offline.
// Built-in kinds (v1, rbac, batch, scheduling) are decoded strictly, no more.
// usage: kubecheck CRD_DIR FILE...   exit 1: something is wrong, 2: it could not be checked
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type kind struct {
	props      *apiextensions.JSONSchemaProps
	structural *schema.Structural
	namespaced bool
}

func fatal(format string, words ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(2)
}

func documents(path string) [][]byte {
	text, err := os.ReadFile(path)
	if err != nil {
		fatal("%v", err)
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var found [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			fatal("%s: %v", path, err)
		}
		var empty any
		if err := yaml.Unmarshal(document, &empty); err == nil && empty == nil {
			continue
		}
		found = append(found, document)
	}
}

func loadKinds(directory string) map[string]kind {
	kinds := map[string]kind{}
	files, _ := filepath.Glob(filepath.Join(directory, "*.yaml"))
	for _, path := range files {
		for _, document := range documents(path) {
			var crd apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal(document, &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
				continue
			}
			for _, version := range crd.Spec.Versions {
				if !version.Served {
					continue
				}
				props := &apiextensions.JSONSchemaProps{}
				if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
					version.Schema.OpenAPIV3Schema, props, nil); err != nil {
					fatal("%s: %v", path, err)
				}
				structural, err := schema.NewStructural(props)
				if err != nil {
					fatal("%s: %v", path, err)
				}
				name := crd.Spec.Group + "/" + version.Name + " " + crd.Spec.Names.Kind
				kinds[name] = kind{props, structural, crd.Spec.Scope == apiextensionsv1.NamespaceScoped}
			}
		}
	}
	return kinds
}

func checkCustom(k kind, object map[string]any) []string {
	var wrong []string
	add := func(list field.ErrorList) {
		for _, err := range list {
			wrong = append(wrong, err.Error())
		}
	}
	unknown := pruning.PruneWithOptions(runtime.DeepCopyJSON(object), k.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		wrong = append(wrong, "unknown field "+path)
	}
	defaulting.Default(object, k.structural)
	validator, _, err := validation.NewSchemaValidator(
		&apiextensions.CustomResourceValidation{OpenAPIV3Schema: k.props})
	if err != nil {
		return append(wrong, err.Error())
	}
	add(validation.ValidateCustomResource(nil, object, validator))
	add(listtype.ValidateListSetsAndMaps(nil, k.structural, object))
	if rules := cel.NewValidator(k.structural, true, math.MaxInt64); rules != nil && len(wrong) == 0 {
		list, _ := rules.Validate(context.Background(), nil, k.structural, object, nil, math.MaxInt64)
		add(list)
	}
	u := &unstructured.Unstructured{Object: object}
	add(metavalidation.ValidateObjectMetaAccessor(u, k.namespaced,
		metavalidation.NameIsDNSSubdomain, field.NewPath("metadata")))
	return wrong
}

func checkBuiltIn(decoder runtime.Decoder, document []byte) []string {
	if _, _, err := decoder.Decode(document, nil, nil); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func main() {
	if len(os.Args) < 3 {
		fatal("usage: kubecheck CRD_DIR FILE...")
	}
	kinds := loadKinds(os.Args[1])
	if len(kinds) == 0 {
		fatal("%s holds no CustomResourceDefinition", os.Args[1])
	}
	scheme := runtime.NewScheme()
	for _, register := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme,
		batchv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme} {
		if err := register(scheme); err != nil {
			fatal("%v", err)
		}
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	failed := false
	for _, path := range os.Args[2:] {
		for number, document := range documents(path) {
			var object map[string]any
			where := fmt.Sprintf("%s#%d", path, number+1)
			if err := yaml.UnmarshalStrict(document, &object); err != nil {
				fmt.Printf("%s: %v\n", where, err)
				failed = true
				continue
			}
			// Numbers as the API server reads them: int64 or float64.
			asJSON, err := yaml.YAMLToJSON(document)
			if err != nil {
				fatal("%s: %v", where, err)
			}
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(asJSON); err != nil {
				fmt.Printf("%s: %v\n", where, err)
				failed = true
				continue
			}
			name := u.GetAPIVersion() + " " + u.GetKind()
			var wrong []string
			if k, known := kinds[name]; known {
				wrong = checkCustom(k, u.Object)
			} else {
				wrong = checkBuiltIn(decoder, document)
			}
			fmt.Printf("%s: %s %s: %d wrong\n", where, name, u.GetName(), len(wrong))
			for _, line := range wrong {
				fmt.Printf("    %s\n", line)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
