/**
 * The statements of the source as they are sent: the templates of `tx`, with the pieces they are put
 * together from, and the row that each says it answers. docs/decisions/0161.
 *
 * The compiler reads the source. A piece (`tx.part`) is followed through constants, functions, arguments and, where
 * a function is given one, its callers. Where the program decides (a condition, several `return`, several callers),
 * every way is taken: first the first of each, then each other one once. What is decided twice by the same words in
 * the same function is decided alike. What cannot be followed is answered as unread, with the words that stopped it.
 */
import { relative } from 'node:path'
import type { Expression, FunctionLikeDeclaration, Node, SourceFile, TemplateLiteral } from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isAsExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isFunctionLikeDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isNonNullExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast'
import { type Checker, type Project, SymbolFlags, type Symbol as TsSymbol } from 'typescript/unstable/sync'
import { declaredType, isPart, type RowShape, rowShapeOf } from './row-shape.ts'
import { root } from './source.ts'

/** Text, or a value: with the type that the driver declares for it, or none where the server decides. */
export type Piece = string | { readonly declared: DeclaredType | undefined }
export type DeclaredType = 'bool' | 'bytea' | 'timestamptz' | 'jsonb'

export interface WrittenStatement {
  /** `path:line`, from the project's root. */
  readonly where: string
  /** The function that it stands in, by which lists name it: files move. */
  readonly of: string
  /** Each way it can be put together. */
  readonly ways: readonly (readonly Piece[])[]
  /** The words that could not be followed, if any. */
  readonly unread: readonly string[]
  /** Undefined where the statement names no row: then nobody reads a column. */
  readonly row: RowShape | undefined
}

/** The statements of the project's files whose path from its root begins so. */
export function writtenStatements(project: Project, beginning: string): WrittenStatement[] {
  const files = project.program
    .getSourceFileNames()
    .filter((name) => relative(root, name).startsWith('src/') || relative(root, name).startsWith(beginning))
    .map((name) => project.program.getSourceFile(name)!)
  const reader = new Reader(project.checker, files)
  return files
    .filter(({ fileName }) => relative(root, fileName).startsWith(beginning))
    .flatMap((file) => reader.statementsOf(file))
}

/** What the names of a function stand for at one call of it, and how the program decides. */
interface Scope {
  readonly bound: Map<number, { readonly expression: Expression; readonly scope: Scope }>
  readonly decide: (question: string, answers: number) => number
}

class Unread extends Error {
  readonly words: string
  constructor(node: Node) {
    super('cannot be followed')
    this.words = node.getText().replace(/\s+/g, ' ')
  }
}

class Reader {
  readonly checker: Checker
  readonly files: readonly SourceFile[]
  /** Calls by the name of what is called. */
  readonly calls: ReadonlyMap<string, readonly Call[]>

  constructor(checker: Checker, files: readonly SourceFile[]) {
    this.checker = checker
    this.files = files
    this.calls = Map.groupBy(
      files.flatMap((file) => nodesOf(file, isCallExpression)),
      ({ expression }) => (isIdentifier(expression) ? expression.text : ''),
    )
  }

  statementsOf(file: SourceFile): WrittenStatement[] {
    const templates = nodesOf(file, isTaggedTemplateExpression).flatMap((node) => {
      const type = this.checker.getTypeAtLocation(node)
      if (type === undefined || isPart(type)) return []
      const row = rowShapeOf(this.checker, type)
      return [{ node, row, read: (scope: Scope) => this.template(node.template, scope) }]
    })
    const texts = nodesOf(file, isCallExpression).flatMap((node) => {
      const method = isPropertyAccessExpression(node.expression) ? node.expression : undefined
      if (!method || !['text', 'copyOut'].includes(method.name.text) || this.nameOfType(method.expression) !== 'Tx')
        return []
      const type = this.checker.getTypeAtLocation(node)
      const row = type && rowShapeOf(this.checker, type)
      return [{ node, row, read: () => [this.constant(node.arguments[0]!)] }]
    })
    return [...templates, ...texts].map(({ node, row, read }) => ({
      where: `${relative(root, file.fileName)}:${lineOf(file, node)}`,
      of: nameAround(node),
      row,
      ...everyWay(read),
    }))
  }

  private nameOfType(expression: Expression): string | undefined {
    return this.checker.getTypeAtLocation(expression)?.getSymbol()?.name
  }

  private template(template: TemplateLiteral, scope: Scope): Piece[] {
    if (!isTemplateExpression(template)) return [template.text]
    return [
      template.head.text,
      ...template.templateSpans.flatMap(({ expression, literal }) => [
        ...this.inserted(expression, scope),
        literal.text,
      ]),
    ]
  }

  private inserted(expression: Expression, scope: Scope): Piece[] {
    const type = this.checker.getTypeAtLocation(expression)
    if (type === undefined) throw new Unread(expression)
    return isPart(type) ? this.part(expression, scope) : [{ declared: declaredType(type) }]
  }

  /** What an expression is that answers a piece. */
  private part(wrapped: Expression, scope: Scope): Piece[] {
    const expression = bare(wrapped)
    if (isTaggedTemplateExpression(expression)) return this.template(expression.template, scope)
    if (isCallExpression(expression)) return this.call(expression, scope)
    if (isIdentifier(expression)) return this.named(expression, scope)
    if (isConditionalExpression(expression)) {
      const { condition, whenTrue, whenFalse } = expression
      const isFirst = scope.decide(`${placeOf(functionAround(expression))} ${condition.getText()}`, 2) === 0
      return this.inserted(isFirst ? whenTrue : whenFalse, scope)
    }
    throw new Unread(expression)
  }

  private named(name: Expression, scope: Scope): Piece[] {
    const symbol = this.symbolOf(name)
    const given = symbol && scope.bound.get(symbol.id)
    if (given) return this.part(given.expression, given.scope)
    const declaration = symbol?.valueDeclaration?.resolve()
    if (declaration && isVariableDeclaration(declaration) && declaration.initializer && isIdentifier(declaration.name))
      return this.part(declaration.initializer, scope)
    // An argument of the function that the statement stands in: whatever its callers give it.
    const parameter = declaration && parameterOf(declaration)
    if (!parameter || !isFunctionLikeDeclaration(parameter.parent)) throw new Unread(name)
    const calls = this.callsOf(parameter.parent)
    const call = calls[scope.decide(`callers of ${placeOf(parameter.parent)}`, calls.length)]
    if (!call) throw new Unread(name)
    this.bind(parameter.parent, call, { bound: new Map(), decide: scope.decide }, scope)
    if (!symbol || !scope.bound.has(symbol.id)) throw new Unread(name)
    return this.named(name, scope)
  }

  private call(call: Call, scope: Scope): Piece[] {
    const { expression: callee } = call
    if (isPropertyAccessExpression(callee)) {
      switch (callee.name.text) {
        case 'json':
          return [{ declared: 'jsonb' }]
        case 'list':
          return ['(', { declared: undefined }, ')']
        case 'rows':
          return rowsOf(call)
      }
    }
    const called = this.functionOf(callee)
    if (!called?.body) throw new Unread(call)
    const inner: Scope = { bound: new Map(scope.bound), decide: scope.decide }
    this.bind(called, call, scope, inner)
    if (!isBlock(called.body)) return this.part(called.body as Expression, inner)
    const returned = nodesOf(called.body, isReturnStatement).filter((node) => functionAround(node) === called)
    const chosen = returned[scope.decide(`returns of ${placeOf(called)}`, returned.length)]
    if (!chosen?.expression) throw new Unread(call)
    return this.part(chosen.expression, inner)
  }

  /** Gives the parameters of a function the arguments of a call. */
  private bind(called: FunctionLikeDeclaration, { arguments: given }: Call, outer: Scope, inner: Scope): void {
    for (const [index, { name, initializer }] of called.parameters.entries()) {
      const expression = given[index] ?? initializer
      if (!expression) continue
      if (isIdentifier(name)) this.bindName(name, expression, outer, inner)
      else if (isObjectBindingPattern(name)) {
        const object = bare(expression)
        if (!isObjectLiteralExpression(object)) continue
        for (const { name: element, propertyName } of name.elements) {
          if (!element || !isIdentifier(element)) continue
          const member = propertyName && isIdentifier(propertyName) ? propertyName.text : element.text
          const property = object.properties.find((one) => 'name' in one && one.name?.getText() === member)
          if (property && isPropertyAssignment(property)) this.bindName(element, property.initializer, outer, inner)
          if (property && isShorthandPropertyAssignment(property))
            this.bindName(element, property.name as unknown as Expression, outer, inner)
        }
      }
    }
  }

  private bindName(name: Node, expression: Expression, scope: Scope, inner: Scope): void {
    const symbol = this.checker.getSymbolAtLocation(name)
    if (symbol) inner.bound.set(symbol.id, { expression, scope })
  }

  private symbolOf(name: Expression): TsSymbol | undefined {
    const symbol = isShorthandPropertyAssignment(name.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.checker.getSymbolAtLocation(name)
    return symbol && symbol.flags & SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol
  }

  private functionOf(callee: Expression): FunctionLikeDeclaration | undefined {
    const declaration = this.symbolOf(callee)?.valueDeclaration?.resolve()
    if (!declaration) return undefined
    if (isFunctionDeclaration(declaration)) return declaration
    const value = isVariableDeclaration(declaration) && declaration.initializer && bare(declaration.initializer)
    return value && (isArrowFunction(value) || isFunctionExpression(value)) ? value : undefined
  }

  private callsOf(called: FunctionLikeDeclaration): readonly Call[] {
    const { parent } = called
    const name = isFunctionDeclaration(called) ? called.name : isVariableDeclaration(parent) ? parent.name : undefined
    if (!name || !isIdentifier(name)) return []
    return (this.calls.get(name.text) ?? []).filter(({ expression }) => this.functionOf(expression) === called)
  }

  /** A text that is written as it is, or put together of constants. */
  private constant(wrapped: Expression): string {
    const expression = bare(wrapped)
    if (isStringLiteral(expression) || isNoSubstitutionTemplateLiteral(expression)) return expression.text
    if (isTemplateExpression(expression)) {
      const { head, templateSpans } = expression
      return templateSpans.reduce(
        (before, span) => before + this.constant(span.expression) + span.literal.text,
        head.text,
      )
    }
    const declaration = isIdentifier(expression) ? this.symbolOf(expression)?.valueDeclaration?.resolve() : undefined
    if (declaration && isVariableDeclaration(declaration) && declaration.initializer)
      return this.constant(declaration.initializer)
    throw new Unread(expression)
  }
}

type Call = ReturnType<typeof asCall>
const asCall = (node: Node) => {
  if (!isCallExpression(node)) throw new Unread(node)
  return node
}

/** Reads a statement once for each answer to each question that the reading comes to. */
function everyWay(read: (scope: Scope) => Piece[]): Pick<WrittenStatement, 'ways' | 'unread'> {
  const asked = new Set<string>()
  const waiting: ReadonlyMap<string, number>[] = [new Map()]
  const ways = new Map<string, Piece[]>()
  const unread = new Set<string>()
  for (const answers of waiting) {
    const decide = (question: string, count: number) => {
      if (!asked.has(question)) {
        asked.add(question)
        for (let other = 1; other < count; other += 1) waiting.push(new Map([...answers, [question, other]]))
      }
      return answers.get(question) ?? 0
    }
    try {
      const pieces = read({ bound: new Map(), decide })
      ways.set(JSON.stringify(pieces), pieces)
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      unread.add(error.words)
    }
  }
  return { ways: [...ways.values()], unread: [...unread] }
}

/** `("a", "b") values (…)`: one row of the columns that are named. */
function rowsOf(call: Call): Piece[] {
  const columns = call.arguments.slice(1).map((column) => {
    if (!isStringLiteral(column)) throw new Unread(column)
    return column.text
  })
  if (columns.length === 0) throw new Unread(call)
  const values = columns.flatMap((_, index): Piece[] => [index === 0 ? '' : ', ', { declared: undefined }])
  return [`(${columns.map((column) => `"${column}"`).join(', ')}) values (`, ...values, ')']
}

function nodesOf<Found extends Node>(from: Node, isFound: (node: Node) => node is Found): Found[] {
  const found: Found[] = []
  const visit = (node: Node): void => {
    if (isFound(node)) found.push(node)
    node.forEachChild(visit)
  }
  visit(from)
  return found
}

function bare(expression: Expression): Expression {
  return isParenthesizedExpression(expression) || isAsExpression(expression) || isNonNullExpression(expression)
    ? bare(expression.expression)
    : expression
}

function functionAround(node: Node): Node {
  let around = node.parent
  while (around.parent && !isFunctionLikeDeclaration(around)) around = around.parent
  return around
}

/** The nearest function around that has a name, or the member that a nameless one stands behind. */
function nameAround(node: Node): string {
  const around = functionAround(node)
  if (!around.parent) return ''
  if (isFunctionDeclaration(around) || isMethodDeclaration(around)) return around.name?.getText() ?? ''
  const { parent } = around
  return isVariableDeclaration(parent) || isPropertyAssignment(parent) ? parent.name.getText() : nameAround(around)
}

function parameterOf(declaration: Node) {
  let node = declaration
  while (isBindingElement(node) || isObjectBindingPattern(node)) node = node.parent
  return isParameterDeclaration(node) ? node : undefined
}

const placeOf = (node: Node) => `${node.getSourceFile().fileName}:${node.pos}`
const lineOf = (file: SourceFile, node: Node) => file.text.slice(0, node.getStart()).split('\n').length
