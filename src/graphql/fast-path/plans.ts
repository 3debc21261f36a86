import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql'
import { type OperationPlan, planOperation, type Unplannable } from './operation-plan.ts'

/**
 * The number of plans of a document that are kept. Nothing counts their bytes, and clients send one
 * operation.
 */
const plansMax = 10

/** The plans of the operations of a document, as {@link planOperation} returns them. */
type PlansOfDocument = Map<OperationDefinitionNode, OperationPlan | Unplannable | undefined>

/** The plans of documents that are in memory. */
export class Plans {
  private readonly plans = new WeakMap<DocumentNode, PlansOfDocument>()

  constructor(private readonly schema: GraphQLSchema) {}

  /**
   * The plan of an operation, as {@link planOperation}. Undefined also if the document does not
   * have it.
   */
  find(
    document: DocumentNode,
    operationName: string | undefined,
  ): OperationPlan | Unplannable | undefined {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    const plans: PlansOfDocument = this.plans.get(document) ?? new Map()
    this.plans.set(document, plans)
    if (plans.has(operation)) return plans.get(operation)
    const [oldest] = plans.keys()
    if (oldest && plans.size >= plansMax) plans.delete(oldest)
    const plan = planOperation(this.schema, document, operation)
    plans.set(operation, plan)
    return plan
  }
}
